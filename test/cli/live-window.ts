import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type IPty, spawn } from '@lydell/node-pty'
import headless from '@xterm/headless'
import { afterAll } from 'vitest'

const sources = join(import.meta.dirname, '..', '..', 'src')
/** The address of a source file, for programs that a test writes itself. */
export const source = (path: string): string => JSON.stringify(pathToFileURL(join(sources, path)).href)

export interface WindowOptions {
  readonly columns?: number
  readonly rows?: number
  readonly env?: { readonly [name: string]: string }
}

/** A program in a terminal of its own, as a person sees it. */
export interface Opened {
  readonly pty: IPty
  /** Resolves when the window shows this; fails where the program ends before. */
  shows(what: RegExp): Promise<string>
  /** Resolves when this has been written since the last time, whether or not it can still be seen. */
  writes(what: string): Promise<void>
  /** Right after a picture, so that the next one knows of it. */
  resize(columns: number, rows: number): Promise<void>
  /** At once: where nothing is drawn, there is no picture to wait for. */
  resizeNow(columns: number, rows: number): void
  /** Everything that was written. */
  raw(): string
  /** Rows of the window and those that have scrolled out of it, lines that the terminal broke put together again. */
  lines(): readonly string[]
  isCursorVisible(): boolean
  /** The exit code, when all that was written has been shown. */
  readonly ended: Promise<number>
}

const pictureEnd = '\u001b[?2026l'
const afterPicture = new RegExp(`(?<=${pictureEnd.replace(/[[?]/g, '\\$&')})`)

/** As it was built: it starts in a third of the time that the sources take. */
export const built = JSON.stringify(pathToFileURL(join(sources, '..', 'dist', 'cli', 'main.js')).href)
const command = `import { main } from ${built}\nprocess.exit(await main(process.argv.slice(1)))`

export interface Desk {
  readonly folder: string
  /** Writes `<name>.ai` and its script; answers the file's name. */
  agent(name: string, script: string, settings?: string): Promise<string>
  /** `troupe …` */
  troupe(args: readonly string[], options?: WindowOptions): Opened
  /** A module of its own. */
  program(code: string, options?: WindowOptions): Opened
}

export async function desk(): Promise<Desk> {
  const folder = await mkdtemp(join(tmpdir(), 'troupe-live-'))
  const opened: Opened[] = []
  afterAll(async () => {
    for (const { pty } of opened) pty.kill('SIGKILL')
    await rm(folder, { recursive: true, force: true })
  })
  const start = (code: string, args: readonly string[], options: WindowOptions): Opened => {
    const window = open(folder, ['--input-type=module', '-e', code, '--', ...args], options)
    opened.push(window)
    return window
  }
  return {
    folder,
    async agent(name, script, settings = '') {
      await writeFile(join(folder, `${name}.yaml`), script)
      await writeFile(
        join(folder, `${name}.ai`),
        `---\ndescription: A test\nmodels: script/${name}.yaml\n${settings}\n---\nYou are tested.\n`,
      )
      return `${name}.ai`
    },
    troupe: (args, options = {}) => start(command, args, options),
    program: (code, options = {}) => start(code, [], options),
  }
}

function open(folder: string, args: string[], { columns = 80, rows = 30, env = {} }: WindowOptions): Opened {
  const terminal = new headless.Terminal({ cols: columns, rows, allowProposedApi: true, scrollback: 5000 })
  const pty = spawn(process.execPath, args, {
    name: env.TERM ?? 'xterm-256color',
    cols: columns,
    rows,
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      HOME: folder,
      XDG_STATE_HOME: join(folder, 'state'),
      ...env,
    },
  })
  let raw = ''
  let heard = 0
  let isOver = false
  const waiting = new Set<() => void>()
  const look = (): void => {
    for (const each of [...waiting]) each()
  }
  // Picture by picture, however many come at once on a busy machine, and each can be looked at before the next.
  let shown = Promise.resolve()
  pty.onData((text) => {
    for (const piece of text.split(afterPicture)) {
      shown = shown.then(async () => {
        await new Promise<void>((resolve) => terminal.write(piece, resolve))
        raw += piece
        look()
        await new Promise((resolve) => setImmediate(resolve))
      })
    }
  })
  const ended = new Promise<number>((resolve) => {
    pty.onExit(({ exitCode }) => {
      void shown.then(() => {
        isOver = true
        look()
        resolve(exitCode)
      })
    })
  })
  const lines = (): readonly string[] => linesOf(terminal)
  const until = <T>(attempt: () => T | undefined, what: string): Promise<T> =>
    new Promise((resolve, reject) => {
      const check = (): void => {
        const found = attempt()
        if (found !== undefined) resolve(found)
        else if (isOver) reject(new Error(`it ended without showing ${what}:\n${lines().join('\n')}`))
        else return
        waiting.delete(check)
      }
      waiting.add(check)
      check()
    })
  return {
    pty,
    shows: (what) => until(() => (what.test(lines().join('\n')) ? lines().join('\n') : undefined), String(what)),
    async writes(what) {
      heard = await until(() => (raw.indexOf(what, heard) >= 0 ? raw.indexOf(what, heard) + what.length : undefined), JSON.stringify(what))
    },
    async resize(width, height) {
      const from = raw.length
      await until(() => (raw.indexOf(pictureEnd, from) >= 0 ? true : undefined), 'another picture')
      terminal.resize(width, height)
      pty.resize(width, height)
      heard = raw.length
    },
    resizeNow(width, height) {
      terminal.resize(width, height)
      pty.resize(width, height)
    },
    raw: () => raw,
    lines,
    isCursorVisible: () => raw.lastIndexOf('\u001b[?25l') <= raw.lastIndexOf('\u001b[?25h'),
    ended,
  }
}

function linesOf({ buffer: { active } }: headless.Terminal): readonly string[] {
  const lines: string[] = []
  for (let y = 0; y < active.length; y++) {
    const row = active.getLine(y)
    if (row?.isWrapped) lines.push(`${lines.pop() ?? ''}${row.translateToString(true)}`)
    else lines.push(row?.translateToString(true) ?? '')
  }
  return lines.slice(0, lines.findLastIndex((line) => line !== '') + 1)
}
