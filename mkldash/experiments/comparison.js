// The legend: a click hides a solver in every picture, pointing at it fades the others.
const rules = document.createElement("style");
document.head.append(rules);
const buttons = [...document.querySelectorAll("#legend button")];
const hidden = (button) => button.getAttribute("aria-pressed") === "false";
const draw = (pointed) => {
  rules.textContent = buttons.map((button) => {
    const curve = `figure .s${button.dataset.style}`;
    if (hidden(button)) return `${curve} { display: none; }`;
    return pointed && pointed !== button ? `${curve} { opacity: .15; }` : "";
  }).join("\n");
};
for (const button of buttons) {
  button.addEventListener("click", () => {
    button.setAttribute("aria-pressed", String(hidden(button)));
    draw();
  });
  button.addEventListener("mouseenter", () => draw(button));
  button.addEventListener("mouseleave", () => draw());
}
