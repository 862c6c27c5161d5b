// A board in a notebook. Everything it shows is decided in experiments/widget.py: the picture is an SVG in `picture`,
// the buttons stand in `buttons`; a click goes back as a place in the picture's own units, or as a button's name.

function render({ model, el }) {
  const picture = document.createElement("div");
  const row = document.createElement("div");
  const status = document.createElement("div");
  picture.style.maxWidth = "620px";
  status.style.whiteSpace = "pre-line";
  status.style.font = "14px/1.3 sans-serif";
  status.style.minHeight = "2.6em"; // two lines: the board stays where it is when a hint comes
  row.style.margin = "6px 0";

  function draw() {
    picture.innerHTML = model.get("picture");
    const svg = picture.querySelector("svg");
    if (svg) {
      svg.style.maxWidth = "100%";
      svg.style.height = "auto";
    }
  }

  function say() {
    status.textContent = model.get("status");
  }

  function layButtons() {
    row.replaceChildren(
      ...model.get("buttons").map((name) => {
        const button = document.createElement("button");
        button.textContent = name;
        button.style.marginRight = "4px";
        button.addEventListener("click", () => model.send({ kind: "button", name }));
        return button;
      }),
    );
  }

  function clicked(event) {
    const svg = picture.querySelector("svg");
    if (!svg) return;
    const box = svg.getBoundingClientRect();
    const view = svg.viewBox.baseVal;
    model.send({
      kind: "click",
      x: ((event.clientX - box.left) * view.width) / box.width,
      y: ((event.clientY - box.top) * view.height) / box.height,
    });
  }

  picture.addEventListener("click", clicked);
  model.on("change:picture", draw);
  model.on("change:status", say);
  model.on("change:buttons", layButtons);
  draw();
  say();
  layButtons();
  el.append(status, row, picture);
  return () => {
    model.off("change:picture", draw);
    model.off("change:status", say);
    model.off("change:buttons", layButtons);
  };
}

export default { render };
