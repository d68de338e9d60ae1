/** How deeply a JSON text is nested, without parsing it. Stops one level beyond `max`. */
export function jsonDepth(text: string, max: number): number {
  let [depth, deepest] = [0, 0]
  let isString = false
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (isString) {
      if (code === backslash) index++
      else if (code === quote) isString = false
    } else if (code === quote) isString = true
    else if (code === openBrace || code === openBracket) {
      depth++
      if (depth > deepest) deepest = depth
      if (depth > max) return deepest
    } else if (code === closeBrace || code === closeBracket) depth--
  }
  return deepest
}

const [quote, backslash, openBrace, closeBrace, openBracket, closeBracket] = [34, 92, 123, 125, 91, 93]
