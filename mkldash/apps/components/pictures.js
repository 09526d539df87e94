// Saving what a page shows: files of text, and pictures with their title, curves and parameters.

const FACE = "Roboto, Arial, Helvetica, sans-serif"
const PAD = 14
const MOST = 560 // pixels: what is wider takes a row of its own on a sheet
const measure = document.createElement("canvas").getContext("2d")

function save_blob(blob, name) {
  const link = document.createElement("a")
  link.download = name
  link.href = URL.createObjectURL(blob)
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}

// Two papers to draw on by the same commands.
class CanvasPaper {
  constructor(width, height, ratio) {
    this.canvas = document.createElement("canvas")
    this.canvas.width = Math.round(width * ratio)
    this.canvas.height = Math.round(height * ratio)
    this.pen = this.canvas.getContext("2d")
    this.ratio = ratio
    this.pen.scale(ratio, ratio)
  }
  box(x, y, w, h, colour) {
    this.pen.fillStyle = colour
    this.pen.fillRect(x, y, w, h)
  }
  text(x, y, words, size, weight, colour) {
    this.pen.font = `${weight} ${size}px ${FACE}`
    this.pen.fillStyle = colour
    this.pen.fillText(words, x, y)
  }
  line(x0, x1, y, colour, dashes) {
    this.pen.strokeStyle = colour
    this.pen.lineWidth = 2.5
    this.pen.setLineDash(dashes)
    this.pen.beginPath()
    this.pen.moveTo(x0, y)
    this.pen.lineTo(x1, y)
    this.pen.stroke()
  }
  figure(view, x, y, w, h) {
    this.pen.drawImage(at_ratio(this.ratio, () => view.export("png").canvas), x, y, w, h)
  }
  blob() {
    return new Promise((resolve) => this.canvas.toBlob(resolve, "image/png"))
  }
}

function safe(words) {
  return String(words).replace(/[&<>"]/g, (c) => ({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"})[c])
}

class SvgPaper {
  constructor(width, height) {
    this.parts = [`<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`]
    this.figures = 0
  }
  box(x, y, w, h, colour) {
    this.parts.push(`<rect x="${x}" y="${y}" width="${w}" height="${h}" fill="${safe(colour)}"/>`)
  }
  text(x, y, words, size, weight, colour) {
    // As long as it is here: another machine may lack the font, and have a wider one.
    const long = text_width(words, size, weight)
    const fit = long > 1 && String(words).length > 1 ? ` textLength="${long.toFixed(1)}" lengthAdjust="spacingAndGlyphs"` : ""
    this.parts.push(`<text x="${x}" y="${y}"${fit} font-family="${FACE}" font-size="${size}" font-weight="${weight}" fill="${safe(colour)}" xml:space="preserve">${safe(words)}</text>`)
  }
  line(x0, x1, y, colour, dashes) {
    this.parts.push(`<line x1="${x0}" x2="${x1}" y1="${y}" y2="${y}" stroke="${safe(colour)}" stroke-width="2.5" stroke-dasharray="${dashes.join(" ")}"/>`)
  }
  figure(view, x, y) {
    // Each figure names its clips anew, so that those of a sheet do not meet.
    const own = `f${this.figures++}-`
    const drawn = view.export("svg", false).ctx.get_serialized_svg(true)
      .replace(/\bid="/g, `id="${own}`).replace(/url\((&quot;|['"]?)#/g, `url($1#${own}`).replace(/href="#/g, `href="#${own}`)
    this.parts.push(`<g transform="translate(${x} ${y})">${drawn}</g>`)
  }
  blob() {
    return Promise.resolve(new Blob([...this.parts, "</svg>\n"], {type: "image/svg+xml"}))
  }
}

// Bokeh draws as finely as the screen is: for a file, twice as fine at least.
function at_ratio(ratio, draw) {
  const own = Object.getOwnPropertyDescriptor(window, "devicePixelRatio")
  Object.defineProperty(window, "devicePixelRatio", {configurable: true, get: () => ratio})
  try {
    return draw()
  } finally {
    delete window.devicePixelRatio
    if (own) { Object.defineProperty(window, "devicePixelRatio", own) }
  }
}

function text_width(words, size, weight = 400) {
  measure.font = `${weight} ${size}px ${FACE}`
  return measure.measureText(words).width
}

function wrapped(words, size, width) {
  const lines = [""]
  for (const word of words.split(" ")) {
    const longer = lines.at(-1) ? `${lines.at(-1)} ${word}` : word
    if (lines.at(-1) && text_width(longer, size) > width) { lines.push(word) } else { lines[lines.length - 1] = longer }
  }
  return lines
}

// What is above a figure: a list of [height, draw(paper, x, y)].
function rows_above({title, keys, marks, lines}, width, ink, large) {
  const size = large ? 20 : 16
  const rows = title ? wrapped(title, size, width).map((words) => [size + 8, (p, x, y) => p.text(x, y + size, words, size, 500, ink.strong)]) : []
  for (const line of lines ?? []) {
    for (const words of wrapped(line, 12.5, width)) { rows.push([17, (p, x, y) => p.text(x, y + 13, words, 12.5, 400, ink.quiet)]) }
  }
  const items = keys?.length
    ? keys.filter(([,,, drawn]) => drawn).map(([label, colour, dashes]) => [label, 32, (p, x, y) => p.line(x, x + 26, y - 4, colour, dashes)])
    : (marks ?? []).map(([sign, colour, meaning]) => [meaning, sign ? 18 : 0, (p, x, y) => p.text(x, y, sign, 14, 400, colour || ink.quiet)])
  let row = []
  let used = 0
  const end = () => {
    const now = row
    if (now.length) {
      rows.push([20, (p, x, y) => now.forEach(([at, label, lead, draw]) => {
        draw(p, x + at, y + 15)
        p.text(x + at + lead, y + 15, label, 12.5, 400, ink.quiet)
      })])
    }
    row = []
    used = 0
  }
  for (const [label, lead, draw] of items) {
    const wide = lead + text_width(label, 12.5) + 16
    if (used && used + wide > width) { end() }
    row.push([used, label, lead, draw])
    used += wide
  }
  end()
  return rows
}

function placed(figures, views, ink) {
  return figures.map((figure, i) => {
    const {width, height} = views[i].bbox
    const rows = rows_above(figure, width - 8, ink, false)
    return {view: views[i], width, height, rows, above: rows.reduce((sum, [h]) => sum + h, 6)}
  })
}

// Cards side by side, two in a row; a wide one has a row of its own.
function in_rows(cards) {
  const rows = []
  for (const card of cards) {
    const last = rows.at(-1)
    if (last?.length === 1 && card.width <= MOST && last[0].width <= MOST) { last.push(card) } else { rows.push([card]) }
  }
  return rows
}

// The figures of an order, on one sheet of the page's paper.
function draw_sheet(order, el) {
  const style = getComputedStyle(el)
  const of = (name, otherwise) => style.getPropertyValue(name).trim() || otherwise
  const ink = {strong: of("--mui-palette-text-primary", "#222"), quiet: of("--mui-palette-text-secondary", "#555")}
  const all = [...Bokeh.index.all_views()]
  // A card has the name of its figure too; only the figure has a frame.
  const found = order.figures.map((f) => all.find((v) => v.model.name === f.figure && v.frame && v.export && v.el.getBoundingClientRect().width > 0))
  const figures = order.figures.filter((_, i) => found[i])
  const cards = placed(figures, found.filter(Boolean), ink)
  if (!cards.length) { return null }
  const single = cards.length === 1 && !order.title
  const rows = in_rows(cards)
  const wide = (row) => row.reduce((sum, card) => sum + card.width, (row.length - 1) * PAD)
  const width = Math.ceil(Math.max(...rows.map(wide)) + 2 * PAD)
  const head = rows_above(single ? {...figures[0], lines: [...order.lines, ...figures[0].lines]} : order, width - 2 * PAD, ink, !single)
  if (single) { Object.assign(cards[0], {rows: [], above: 4}) }
  const tall = (row) => Math.max(...row.map((card) => card.above + card.height)) + PAD
  const top = PAD + head.reduce((sum, [h]) => sum + h, 0)
  const height = Math.ceil(rows.reduce((sum, row) => sum + tall(row), top + (single ? 0 : PAD)))
  const paper = order.format === "svg" ? new SvgPaper(width, height) : new CanvasPaper(width, height, Math.max(2, window.devicePixelRatio))
  paper.box(0, 0, width, height, of("--mui-palette-background-paper", "white"))
  let y = PAD
  for (const [h, draw] of head) {
    draw(paper, PAD, y)
    y += h
  }
  y = top + (single ? 0 : PAD)
  for (const row of rows) {
    let x = PAD
    for (const card of row) {
      let at = y
      for (const [h, draw] of card.rows) {
        draw(paper, x + 8, at)
        at += h
      }
      paper.figure(card.view, x, y + card.above, card.width, card.height)
      x += card.width + PAD
    }
    y += tall(row)
  }
  return paper
}

// What the server hands over to be saved; a sentence where that cannot be.
async function save_order(order, el) {
  if (order.format === "text") {
    save_blob(new Blob([order.text], {type: `${order.type};charset=utf-8`}), order.name)
    return ""
  }
  if (order.format === "words") { return order.text }
  const paper = draw_sheet(order, el)
  if (paper === null) { return "No picture is on screen yet." }
  save_blob(await paper.blob(), `${order.name}.${order.format}`)
  return ""
}

