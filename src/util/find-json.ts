import type { Json } from '../contracts/index.ts'
import { parseWellFormed } from './well-formed.ts'

/** A JSON value and the text that it was parsed from. */
export interface FoundJson {
  readonly value: Json
  readonly text: string
}

/**
 * The JSON value that a text is, or that it holds in a code fence or between words. Scalars count only when they are
 * the whole text. `undefined` where there is none.
 */
export function findJson(text: string): FoundJson | undefined {
  const trimmed = text.trim()
  return parsed(trimmed) ?? fenced(trimmed) ?? embedded(trimmed)
}

/** The text that was meant to be JSON, sound or broken: what is in the first code fence, or all of it where it begins like JSON. */
export function findJsonText(text: string): string | undefined {
  const [block] = fences(text)
  const meant = (block ?? text).trim()
  return /^[{[]/.test(meant) ? meant : undefined
}

function fenced(text: string): FoundJson | undefined {
  // Examples come first, what is meant comes last.
  for (const block of [...fences(text)].reverse()) {
    const found = parsed(block.trim())
    if (found) return found
  }
  return undefined
}

function* fences(text: string): Generator<string> {
  if (!text.includes('```')) return
  let block: string[] | undefined
  for (const line of text.split('\n')) {
    const isFence = line.trimStart().startsWith('```')
    if (!isFence) block?.push(line)
    else if (block === undefined) block = []
    else {
      yield block.join('\n')
      block = undefined
    }
  }
}

/** From the first bracket to the last one that can close it. */
function embedded(text: string): FoundJson | undefined {
  const start = text.search(/[{[]/)
  if (start === -1) return undefined
  const end = text.lastIndexOf(text[start] === '{' ? '}' : ']')
  return end > start ? parsed(text.slice(start, end + 1)) : undefined
}

function parsed(text: string): FoundJson | undefined {
  try {
    return { value: parseWellFormed(text), text }
  } catch {
    return undefined
  }
}
