import type { Json } from '../contracts/index.ts'

/**
 * The JSON value that a text is, or that it holds in a code fence or between words. Scalars count only when they are
 * the whole text. `undefined` where there is none.
 */
export function jsonIn(text: string): Json | undefined {
  const trimmed = text.trim()
  for (const find of [parsed, fenced, embedded]) {
    const value = find(trimmed)
    if (value !== undefined) return value
  }
  return undefined
}

function fenced(text: string): Json | undefined {
  if (!text.includes('```')) return undefined
  let block: string[] | undefined
  for (const line of text.split('\n')) {
    const isFence = line.trimStart().startsWith('```')
    if (!isFence) block?.push(line)
    else if (block === undefined) block = []
    else {
      const value = parsed(block.join('\n').trim())
      if (value !== undefined) return value
      block = undefined
    }
  }
  return undefined
}

/** From the first bracket to the last one that can close it. */
function embedded(text: string): Json | undefined {
  const start = text.search(/[{[]/)
  if (start === -1) return undefined
  const end = text.lastIndexOf(text[start] === '{' ? '}' : ']')
  return end > start ? parsed(text.slice(start, end + 1)) : undefined
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}
