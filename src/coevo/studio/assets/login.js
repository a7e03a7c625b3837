// The login form of a studio that other machines can reach.
import { api } from "./api.js";

const form = document.getElementById("login");
form.addEventListener("submit", async event => {
  event.preventDefault();
  const field = document.getElementById("password");
  try {
    await api.post("/login", { password: field.value });
    location.replace("/");
  } catch (error) {
    document.getElementById("error").textContent = error.message;
    field.select();
  }
});
