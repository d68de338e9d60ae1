import { showValue } from './show-value.ts'
import { cutText, wellFormed } from './well-formed.ts'

const mostDepth = 4
const mostErrors = 5
/** Characters of each cause, of each error of several, and of an object that is no error. */
const mostChars = 500

/** What a thrown value says, whatever it is: with its causes, the errors that it holds, or its fields. */
export function messageOf(thrown: unknown): string {
  return wellFormed(textOf(thrown, []))
}

/** `outer`: the errors that this one was found in. */
function textOf(thrown: unknown, outer: readonly unknown[]): string {
  try {
    if (isError(thrown)) return errorText(thrown, outer)
    const text = String(thrown)
    return text === '[object Object]' || Array.isArray(thrown) ? showValue(thrown, mostChars) : text
  } catch {
    return 'something that cannot be printed was thrown'
  }
}

/** Also those of another realm. */
const isError = (value: unknown): value is Error => value instanceof Error || Object.prototype.toString.call(value) === '[object Error]'

function errorText(error: Error, outer: readonly unknown[]): string {
  const message = String(error.message)
  const path = [...outer, error]
  const inner = path.length > mostDepth ? [] : innerErrors(error).filter((each) => !path.includes(each))
  const shown = inner.slice(0, mostErrors).map((each) => cutText(textOf(each, path), mostChars))
  const told = shown.filter((each) => each !== '' && !message.includes(each))
  if (inner.length > mostErrors) told.push(`${inner.length - mostErrors} more`)
  if (told.length === 0) return message === '' ? String(error.name) : message
  return message === '' ? told.join('; ') : `${message} (${told.join('; ')})`
}

function innerErrors(error: Error): readonly unknown[] {
  const { errors, cause } = error as { readonly errors?: unknown; readonly cause?: unknown }
  const several: readonly unknown[] = Array.isArray(errors) ? errors : []
  return cause === undefined || cause === null ? several : [...several, cause]
}
