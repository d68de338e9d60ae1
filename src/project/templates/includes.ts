import { realpathSync } from 'node:fs'
import { join, posix, relative, resolve, sep, win32 } from 'node:path'
import { type Problem, TroupeError } from '../../contracts/index.ts'
import { readRegularFile } from '../../tools/project-context/index.ts'
import { messageOf } from '../../util/message-of.ts'
import { listNames } from '../../yaml/messages.ts'
import { decodeAgentText } from '../values/decode-text.ts'
import { type TemplateReference, templateReferences } from './scan-template.ts'

const maxDepth = 8
const maxFiles = 50
const maxBytes = 1_048_576
const maxProblems = 25

interface Collected {
  /** By the name of the reference. */
  readonly texts: ReadonlyMap<string, TemplateText>
  readonly problems: readonly Problem[]
}

/** Reads all included files, recursively, before rendering. Reads nothing outside the base directory. */
export function collectIncludes(prompt: TemplateText, files: IncludeFiles | undefined): Collected {
  return new Collector(files).collect(prompt)
}

class Collector {
  readonly #files: IncludeFiles | undefined
  readonly #texts = new Map<string, TemplateText>()
  readonly #problems: Problem[] = []
  #bytes = 0

  get #folder(): string {
    return this.#files?.name ?? 'the folder of the agent file'
  }

  constructor(files: IncludeFiles | undefined) {
    this.#files = files
  }

  collect(prompt: TemplateText): Collected {
    this.#follow(prompt, [])
    return { texts: this.#texts, problems: this.#problems }
  }

  #follow(text: TemplateText, path: readonly string[]): void {
    for (const reference of templateReferences(text.text)) {
      if (this.#problems.length >= maxProblems) return
      const from = { text, reference, path }
      if (!reference.names) this.#tell(from, notWrittenOut)
      for (const name of reference.names ?? []) {
        const fault = this.#take(from, name)
        if (fault) this.#tell(from, { ...fault, message: `\`${name}\` ${fault.message}` })
      }
    }
  }

  #take({ reference, path }: From, name: string): Fault | undefined {
    if (path.includes(name)) return { message: 'includes itself', remedy: `The way there: ${listNames([...path, name])}.` }
    if (path.length >= maxDepth) return { message: `is included more than ${maxDepth} deep` }
    if (this.#texts.has(name)) return undefined
    const wrong = nameFault(name, this.#folder)
    if (wrong !== undefined) return { message: wrong, remedy: `Give a path below ${this.#folder}, such as \`rules.md\`.` }
    const read = this.#read(name)
    if (read.kind === 'text') {
      this.#texts.set(name, read.text)
      this.#follow(read.text, [...path, name])
      return undefined
    }
    const mayBeMissing = reference.optional || (reference.names ?? []).length > 1
    return read.kind === 'missing' && mayBeMissing ? undefined : read
  }

  #read(name: string): Read {
    const files = this.#files
    if (!files) return { kind: 'refused', message: 'cannot be included: nothing can be read here' }
    let real: string
    try {
      real = files.realPath(join(files.baseDir, name))
    } catch (error) {
      return { kind: 'missing', message: `cannot be read: ${messageOf(error)}` }
    }
    const inside = relative(files.baseDir, real)
    if (inside === '' || inside.split(sep).includes('..') || win32.isAbsolute(inside) || posix.isAbsolute(inside))
      return { kind: 'refused', message: `is outside ${this.#folder}`, remedy: 'Copy the file there.' }
    if (inside.split(sep).some(isHidden)) return { kind: 'refused', message: 'leads to a hidden file' }
    if (this.#texts.size >= maxFiles) return { kind: 'refused', message: `is one of more than ${maxFiles} included files` }
    return this.#readInside(files, name, real)
  }

  #readInside(files: IncludeFiles, name: string, real: string): Read {
    try {
      const text = decodeAgentText(files.readFile(real, maxBytes - this.#bytes), name)
      this.#bytes += text.length
      return { kind: 'text', text: { text, place: name, firstLine: 1 } }
    } catch (error) {
      const [problem] = error instanceof TroupeError ? error.problems : []
      return { kind: 'refused', message: `cannot be read: ${problem?.message ?? messageOf(error)}` }
    }
  }

  #tell({ text, reference }: From, { message, remedy }: Fault): void {
    const before = text.text.slice(0, reference.offset).split('\n')
    const line = text.text.split('\n')[before.length - 1]
    this.#problems.push({
      place: `${text.place}:${text.firstLine + before.length - 1}:${(before.at(-1) ?? '').length + 1}`,
      message,
      ...(remedy !== undefined && { remedy }),
      ...(line !== undefined && { line }),
    })
  }
}

interface Fault {
  readonly message: string
  readonly remedy?: string
}

const notWrittenOut: Fault = {
  message: 'the name of an included file must be a literal',
  remedy: 'Write it like `{% include "rules.md" %}`.',
}

interface From {
  readonly text: TemplateText
  readonly reference: TemplateReference
  readonly path: readonly string[]
}

type Read = { readonly kind: 'text'; readonly text: TemplateText } | ({ readonly kind: 'missing' | 'refused' } & Fault)

function nameFault(name: string, folder: string): string | undefined {
  if (name.trim() === '' || name.includes('\0')) return 'is not a path'
  if (posix.isAbsolute(name) || win32.isAbsolute(name) || /^[a-z]:/i.test(name)) return 'is an absolute path'
  const parts = name.split(/[/\\]/)
  if (parts.includes('..')) return `is outside ${folder}`
  return parts.some(isHidden) ? 'is a hidden file' : undefined
}

/** Hidden files and `.env` files may have secrets. */
const isHidden = (part: string): boolean => (part.startsWith('.') && part !== '.') || /\.env$/i.test(part)

export interface IncludeFiles {
  /** Absolute, with links resolved. */
  readonly baseDir: string
  /** For messages. Default: the folder of the agent file. */
  readonly name?: string
  /** Throws if the path does not exist. */
  realPath(path: string): string
  /** Throws if it is not a file, is larger than `maxBytes`, or is a link. */
  readFile(path: string, maxBytes: number): Uint8Array
}

export function folderIncludes(folder: string, onFile: (path: string) => void = () => {}): IncludeFiles {
  const baseDir = realpathSync(resolve(folder))
  return {
    baseDir,
    realPath: (path) => realpathSync(path),
    readFile(path, maxBytes) {
      onFile(path)
      const file = readRegularFile(path, { root: baseDir, maxBytes: maxBytes })
      // The path was checked before; a link would lead to another file.
      if (file.kind === 'missing' || file.kind === 'outside' || (file.kind === 'read' && file.real !== path))
        throw new Error('it was replaced while it was read')
      if (file.kind !== 'read') throw new Error(file.why)
      if (file.size > maxBytes) throw new Error(`it is larger than ${maxBytes} bytes`)
      return file.bytes
    },
  }
}

export interface TemplateText {
  readonly text: string
  /** The path in problems. */
  readonly place: string
  /** The first line of the text in the file. */
  readonly firstLine: number
}
