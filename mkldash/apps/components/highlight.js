// Brings out the curves of one lane in every picture, in the browser alone: nobody waits.
const THIN = 0.16

window.mkldashHighlight = (key) => {
  for (const view of window.Bokeh?.index?.all_views?.() ?? []) {
    const model = view.model
    if (model.type !== "GlyphRenderer" || !(model.tags ?? []).includes("lane")) { continue }
    const on = key === null || model.name === key
    const {glyph} = model
    if (glyph.type === "Line") {
      const [alpha, width] = [on ? 1 : THIN, key !== null && on ? 4.2 : 2.6]
      if (glyph.line_alpha.value !== alpha || glyph.line_width.value !== width) {
        glyph.setv({line_alpha: {value: alpha}, line_width: {value: width}}, {sync: false})
      }
    }
  }
}
