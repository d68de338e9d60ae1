// The tools of the demonstration wait for a moment, as a service would, and return fixed texts.

/** Ends early when the call is cancelled. */
export function pause(ms, signal) {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      reject(new Error('cancelled'))
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop)
      resolve()
    }, ms)
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  })
}

/** An object of texts. A name that ends with `?` is optional. */
export const texts = (fields) => ({
  type: 'object',
  properties: Object.fromEntries(
    Object.entries(fields).map(([name, description]) => [name.replace('?', ''), { type: 'string', description }]),
  ),
  required: Object.keys(fields).filter((name) => !name.endsWith('?')),
  additionalProperties: false,
})

/** The same number for the same words. */
export const numberFor = (words, limit) => [...words].reduce((sum, letter) => (sum * 31 + letter.codePointAt(0)) % 9973, 7) % limit
