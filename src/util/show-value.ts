/**
 * A value as JSON for a message, about as long as `most` at the most. Works on anything, also on what is no
 * JSON, refers to itself or cannot be read, and its cost depends on `most` alone.
 */
export function showValue(value: unknown, most = 80): string {
  switch (typeof value) {
    case 'string':
      return value.length <= most ? JSON.stringify(value) : `${JSON.stringify(value.slice(0, Math.max(most, 1))).slice(0, -1)}…"`
    case 'object':
      return value === null ? 'null' : showSafely(value, most)
    case 'undefined':
      return 'nothing'
    case 'function':
    case 'symbol':
      return `a ${typeof value}`
    default:
      return String(value)
  }
}

function showSafely(value: object, most: number): string {
  try {
    return showObject(value, most)
  } catch (error) {
    return error instanceof Error ? `an object that cannot be read (${error.message})` : 'an object that cannot be read'
  }
}

/** Each level takes a bracket from the room, so depth is bounded too. */
function showObject(value: object, most: number): string {
  const isList = Array.isArray(value)
  let text = ''
  for (const key in value) {
    if (!Object.hasOwn(value, key)) continue
    if (text !== '') text += ','
    if (text.length + 2 >= most) {
      text += '…'
      break
    }
    if (!isList) text += `${showValue(key, most - text.length - 2)}:`
    text += showValue((value as { readonly [key: string]: unknown })[key], most - text.length - 2)
  }
  return isList ? `[${text}]` : `{${text}}`
}
