// Learn: start a search, watch it, stop, resume and extend it.
import { h, show } from "../dom.js";

export default {
  id: "learn",
  title: "Learn",
  async mount(container) {
    show(container, h("h1", {}, "Learn"));
  },
};
