/**
 * All encodings of a value in a text: plain, in JSON, in a URL, in base64. In base64 the letters depend on the position of the value, as
 * in `Basic base64(user:password)`; so there is one form for each of the three positions, without the letters shared with others.
 */
export function secretEncodings(value: string): ReadonlySet<string> {
  const forms = new Set<string>()
  for (const plain of [value, value.trim()]) {
    const escaped = insideJson(plain)
    const encoded = encodeURIComponent(plain.toWellFormed())
    const strict = encoded.replaceAll(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`)
    for (const form of [encoded, strict]) {
      forms.add(form).add(form.replaceAll('%20', '+'))
      forms.add(form.replaceAll(/%[\dA-F]{2}/g, (octet) => octet.toLowerCase()))
    }
    forms.add(plain).add(escaped).add(insideJson(escaped)).add(escaped.replaceAll('/', '\\/'))
    forms.add(escaped.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`))
    for (const form of base64Forms(octetsOf(encoded))) forms.add(form).add(form.replaceAll('+', '-').replaceAll('/', '_'))
  }
  return forms
}

const insideJson = (text: string): string => JSON.stringify(text).slice(1, -1)

/** The UTF-8 bytes of a percent-encoded text. */
function octetsOf(encoded: string): readonly number[] {
  const octets: number[] = []
  for (let index = 0; index < encoded.length; index++) {
    if (encoded[index] === '%') {
      octets.push(Number.parseInt(encoded.slice(index + 1, index + 3), 16))
      index += 2
    } else {
      octets.push(encoded.charCodeAt(index))
    }
  }
  return octets
}

function base64Forms(octets: readonly number[]): readonly string[] {
  const forms = [base64(octets), base64(octets).replace(/=+$/, '')]
  for (const before of [0, 1, 2]) {
    const letters = base64([...Array.from({ length: before }, () => 0), ...octets])
    const whole = Math.floor(((before + octets.length) * 8) / 6)
    forms.push(letters.slice(Math.ceil((before * 8) / 6), whole))
  }
  return forms
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

function base64(octets: readonly number[]): string {
  let text = ''
  for (let index = 0; index < octets.length; index += 3) {
    const [first = 0, second, third] = octets.slice(index, index + 3)
    const bits = (first << 16) | ((second ?? 0) << 8) | (third ?? 0)
    const letters = [18, 12, 6, 0].map((shift) => alphabet[(bits >> shift) & 63]).join('')
    text += third !== undefined ? letters : second !== undefined ? `${letters.slice(0, 3)}=` : `${letters.slice(0, 2)}==`
  }
  return text
}
