/**
 * A text that a simple regular expression matches: literals, classes, groups and counts. Of alternatives it takes the
 * first, of what may be left out nothing; `extra` lengthens whatever may be repeated. Anything cleverer gives `undefined`.
 */
export function patternSample(pattern: string, extra = 0): string | undefined {
  const reader = new PatternReader(pattern.slice(0, longestPattern), extra)
  try {
    const sample = reader.alternatives()
    return reader.isAtEnd && new RegExp(pattern, 'u').test(sample) ? sample : undefined
  } catch {
    return undefined
  }
}
const longestPattern = 500
const longestRun = 1000

class PatternReader {
  readonly #pattern: string
  readonly #extra: number
  #at = 0

  constructor(pattern: string, extra: number) {
    this.#pattern = pattern
    this.#extra = extra
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#pattern.length
  }

  alternatives(): string {
    const first = this.#sequence()
    while (this.#take('|')) this.#sequence()
    return first
  }

  #sequence(): string {
    let text = ''
    while (!this.isAtEnd && !'|)'.includes(this.#peek())) {
      const atom = this.#atom()
      text += atom.repeat(Math.min(this.#count(), longestRun))
    }
    return text
  }

  #atom(): string {
    const letter = this.#next()
    switch (letter) {
      case '^':
      case '$':
        return ''
      case '.':
        return 'a'
      case '(':
        return this.#group()
      case '[':
        return this.#class()
      case '\\':
        return escaped(this.#next())
      default:
        return letter
    }
  }

  #group(): string {
    if (this.#take('?')) {
      if (this.#take('<')) while (this.#next() !== '>');
      else if (!this.#take(':')) throw new Error('a look-around')
    }
    const text = this.alternatives()
    if (!this.#take(')')) throw new Error('an open group')
    return text
  }

  #class(): string {
    const isNegated = this.#take('^')
    const members: string[] = []
    while (!this.#take(']')) {
      const letter = this.#next()
      members.push(letter === '\\' ? escaped(this.#next()) : letter)
    }
    if (!isNegated) return members[0] ?? ''
    return [...'a0 -A'].find((letter) => !isMember(letter, members.join(''))) ?? '~'
  }

  #count(): number {
    if (this.#take('?')) return this.#lazily(0)
    if (this.#take('*')) return this.#lazily(this.#extra)
    if (this.#take('+')) return this.#lazily(1 + this.#extra)
    const counts = /^\{(\d+)(,?)(\d*)\}/.exec(this.#pattern.slice(this.#at, this.#at + 20))
    if (!counts) return 1
    this.#at += counts[0].length
    const least = Number(counts[1])
    const most = counts[2] === '' ? least : counts[3] === '' ? Number.POSITIVE_INFINITY : Number(counts[3])
    return this.#lazily(Math.min(least + this.#extra, most))
  }

  #lazily(count: number): number {
    this.#take('?')
    return count
  }

  #peek(): string {
    return this.#pattern[this.#at] ?? ''
  }

  #next(): string {
    if (this.isAtEnd) throw new Error('ends too early')
    return this.#pattern[this.#at++] ?? ''
  }

  #take(letter: string): boolean {
    if (this.#peek() !== letter) return false
    this.#at += 1
    return true
  }
}

function escaped(letter: string): string {
  if (letter === 'd') return '0'
  if (letter === 'w') return 'a'
  if (letter === 's') return ' '
  if (letter === 'b' || letter === 'B') return ''
  if (/[A-Za-z0-9]/.test(letter)) throw new Error('a class of its own')
  return letter
}

function isMember(letter: string, members: string): boolean {
  return members.includes(letter) || new RegExp(`[${members.replaceAll(/[\\\]^]/g, '\\$&')}]`).test(letter)
}
