import { showValue } from './show-value.ts'
import { cutText, wellFormed } from './well-formed.ts'

const maxDepth = 4
const maxErrors = 5
/** For each inner error, and for an object that is not an error. */
const maxChars = 500

/** The message of any thrown value, with its causes and inner errors. */
export function messageOf(thrown: unknown): string {
  return wellFormed(textOf(thrown, []))
}

/** `outer`: the errors that contain this one. */
function textOf(thrown: unknown, outer: readonly unknown[]): string {
  try {
    if (isError(thrown)) return errorText(thrown, outer)
    const text = String(thrown)
    return text === '[object Object]' || Array.isArray(thrown) ? showValue(thrown, maxChars) : text
  } catch {
    return 'an unprintable value was thrown'
  }
}

/** Also errors of another realm. */
const isError = (value: unknown): value is Error => value instanceof Error || Object.prototype.toString.call(value) === '[object Error]'

function errorText(error: Error, outer: readonly unknown[]): string {
  const message = String(error.message)
  const path = [...outer, error]
  const inner = path.length > maxDepth ? [] : innerErrors(error).filter((each) => !path.includes(each))
  const shown = inner.slice(0, maxErrors).map((each) => cutText(textOf(each, path), maxChars))
  const told = shown.filter((each) => each !== '' && !message.includes(each))
  if (inner.length > maxErrors) told.push(`${inner.length - maxErrors} more`)
  if (told.length === 0) return message === '' ? String(error.name) : message
  return message === '' ? told.join('; ') : `${message} (${told.join('; ')})`
}

function innerErrors(error: Error): readonly unknown[] {
  const { errors, cause } = error as { readonly errors?: unknown; readonly cause?: unknown }
  const several: readonly unknown[] = Array.isArray(errors) ? errors : []
  return cause === undefined || cause === null ? several : [...several, cause]
}
