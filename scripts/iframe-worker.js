// Browsers refuse workers to pages that are opened from disk; the site's search then runs in a hidden frame.
if (location.protocol === "file:") {
  window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      const inside = frame.contentWindow;
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      inside.importScripts = (...urls) => Promise.all(urls.map((each) => this.load(inside, each)));
      this.ready = this.load(inside, url);
      this.inside = inside;
    }

    load(inside, url) {
      const script = inside.document.createElement("script");
      return new Promise((resolve, reject) => {
        Object.assign(script, { src: url, onload: resolve, onerror: reject });
        inside.document.body.append(script);
      });
    }

    postMessage(data) {
      const message = () => new this.inside.MessageEvent("message", { data });
      this.ready = this.ready.then(() => this.inside.dispatchEvent(message()));
    }
  };
  window.Worker = window.IFrameWorker;
}
