/** A value as JSON in about `max` characters. Accepts cyclic and unreadable values. Its cost depends on `max` alone. */
export function showValue(value: unknown, max = 80): string {
  switch (typeof value) {
    case 'string':
      return value.length <= max ? JSON.stringify(value) : `${JSON.stringify(value.slice(0, Math.max(max, 1))).slice(0, -1)}…"`
    case 'object':
      return value === null ? 'null' : showSafely(value, max)
    case 'undefined':
      return 'nothing'
    case 'function':
    case 'symbol':
      return `a ${typeof value}`
    default:
      return String(value)
  }
}

function showSafely(value: object, max: number): string {
  try {
    return showObject(value, max)
  } catch (error) {
    return error instanceof Error ? `an unreadable object (${error.message})` : 'an unreadable object'
  }
}

/** Each level reduces `max`, so the depth is bounded, too. */
function showObject(value: object, max: number): string {
  const isList = Array.isArray(value)
  let text = ''
  for (const key in value) {
    if (!Object.hasOwn(value, key)) continue
    if (text !== '') text += ','
    if (text.length + 2 >= max) {
      text += '…'
      break
    }
    if (!isList) text += `${showValue(key, max - text.length - 2)}:`
    text += showValue((value as { readonly [key: string]: unknown })[key], max - text.length - 2)
  }
  return isList ? `[${text}]` : `{${text}}`
}
