interface JsonSize {
  /** How deeply it is nested. */
  readonly depth: number
  /** How many values it contains, roughly: each has a comma or a bracket before it. */
  readonly values: number
}

/** The size of a JSON text, without parsing it. Stops at the first value or level beyond `max`. */
export function jsonSize(text: string, max: JsonSize): JsonSize {
  let [depth, deepest, values] = [0, 0, 0]
  let isString = false
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (isString) {
      if (code === backslash) index++
      else if (code === quote) isString = false
    } else if (code === quote) isString = true
    else if (code === openBrace || code === openBracket) {
      depth++
      values++
      if (depth > deepest) deepest = depth
    } else if (code === closeBrace || code === closeBracket) depth--
    else if (code === comma) values++
    if (deepest > max.depth || values > max.values) break
  }
  return { depth: deepest, values }
}

const [quote, backslash, openBrace, closeBrace, openBracket, closeBracket, comma] = [34, 92, 123, 125, 91, 93, 44]
