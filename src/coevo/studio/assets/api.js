// Requests to the server. Every failure is an ApiError whose message is one sentence.

export class ApiError extends Error {
  constructor(message, status, answer = null) {
    super(message);
    this.status = status;
    this.answer = answer; // all that the server said
  }
}

const UNREACHABLE = "The studio does not answer. Is it still running in its terminal?";

async function read(response) {
  const text = await response.text();
  let answer = null;
  try {
    answer = JSON.parse(text);
  } catch {
    answer = null;
  }
  if (!response.ok) {
    throw new ApiError(answer?.error ?? `The studio answered with ${response.status}.`, response.status, answer);
  }
  return answer;
}

async function send(method, path, body) {
  const options = { method, credentials: "same-origin", headers: {} };
  if (body !== undefined) {
    options.headers["content-type"] = "application/json";
    options.body = JSON.stringify(body);
  }
  let response;
  try {
    response = await fetch(path, options);
  } catch {
    throw new ApiError(UNREACHABLE, 0);
  }
  return read(response);
}

// Send a file as it is, with its progress from 0 to 1.
function upload(path, file, onProgress = () => {}) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", path);
    request.setRequestHeader("content-type", "application/octet-stream");
    request.upload.addEventListener("progress", event => {
      if (event.lengthComputable) onProgress(event.loaded / event.total);
    });
    request.addEventListener("error", () => reject(new ApiError(UNREACHABLE, 0)));
    request.addEventListener("load", () => {
      let answer = null;
      try {
        answer = JSON.parse(request.responseText);
      } catch {
        answer = null;
      }
      if (request.status < 300) resolve(answer);
      else reject(new ApiError(answer?.error ?? `The studio answered with ${request.status}.`, request.status));
    });
    request.send(file);
  });
}

export const api = {
  get: path => send("GET", path),
  post: (path, body = {}) => send("POST", path, body),
  put: (path, body = {}) => send("PUT", path, body),
  remove: path => send("DELETE", path),
  upload,
};

// An address below /api/ with names in it: path`/api/runs/${name}/stop`.
export function path(parts, ...names) {
  return parts.reduce((text, part, i) => text + encodeURIComponent(names[i - 1]) + part);
}
