let last = Date.now();
let worst = 0;
const timer = setInterval(() => {
  worst = Math.max(worst, Date.now() - last);
  last = Date.now();
}, 10);

setTimeout(async () => {
  await (async () => {
    const end = Date.now() + 900;
    while (Date.now() < end) {}
  })();
  setTimeout(() => {
    clearInterval(timer);
    if (worst > 600) throw new Error(`event loop was blocked for ${worst} ms`);
  }, 50);
}, 50);
