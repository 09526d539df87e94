// Bokeh's pictures, less wasteful in a page that redraws them all the time.
//
// Measured while a run streams: every paint makes the browser work out the style of
// the whole page several times, because each renderer rewrites its style sheet (which
// seldom changed), moves an empty element of its own under each curve, and then reads
// fonts and colours back from style sheets that say nothing about them.  The rows
// "frames" of benchmarks/feel.py show what a frame costs.
//
// All of this is inside Bokeh; where something is not found, it is left as it is.
const find = (name) => {
  try {
    return window.Bokeh.require(name)
  } catch {
    return {}
  }
}

// A style sheet that did not change is not written again.
const sheet = find("core/dom").InlineStyleSheet?.prototype
if (typeof sheet?._update === "function") {
  const write = sheet._update
  sheet._update = function (css) {
    if (css !== this._written) {
      this._written = css
      write.call(this, css)
    }
  }
}

// The empty element under a curve stays where it was put first.
const curve = find("models/renderers/glyph_renderer").GlyphRendererView?.prototype
if (typeof curve?.update_position === "function") {
  const place = curve.update_position
  curve.update_position = function () {
    if (!this._placed) {
      this._placed = true
      place.call(this)
    }
  }
}

// No style sheet here sets --bk-line-color and its like.
const visual = find("core/visuals/visual").VisualProperties?.prototype
if (typeof visual?._get_css_value === "function") {
  visual._get_css_value = () => ""
}

// A plot asks once for its font size, not for every label of every axis.
const plot = find("models/plots/plot_canvas").PlotView?.prototype
const size = plot && Object.getOwnPropertyDescriptor(plot, "base_font_size")?.get
if (size) {
  Object.defineProperty(plot, "base_font_size", {
    configurable: true,
    get() {
      return (this._font_size ??= size.call(this))
    },
  })
}
