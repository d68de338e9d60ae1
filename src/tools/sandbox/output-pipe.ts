/*
 * Real pipes for what commands print. What Node makes for its children are sockets: programs that open `/dev/stdout` or
 * `/dev/stderr` fail on those, and each piece that is read from them takes memory of its own.
 *
 * 1. A pipe that is in stock has no name any more: nobody else can open it, and nothing is left of it when we end.
 * 2. Where no pipe can be made, there is none in stock, and a command gets a socket.
 */
import { execFile } from 'node:child_process'
import { closeSync, constants, mkdtempSync, openSync, rmSync } from 'node:fs'
import { Socket } from 'node:net'
import { join } from 'node:path'

export interface OutputPipe {
  /** For the command; to be closed here once it has it. */
  readonly writer: number
  /** Gives what comes to `take`, in a buffer that is used again, and calls `done` at the end. The answer stops it. */
  read(take: (piece: Uint8Array) => void, done: () => void): () => void
  close(): void
}

/** Made at once: starting a program for each would take longer than all else. */
const batch = 16
/** More are made before the last ones are taken, so that hardly anybody waits for them. */
const fewest = 4
const pieceSize = 64 * 1024

const stock: OutputPipe[] = []
let coming: Promise<void> | undefined

export async function takePipe(scratch = '/tmp'): Promise<OutputPipe | undefined> {
  if (stock.length <= fewest) coming ??= refill(scratch)
  if (stock.length === 0) await coming
  return stock.pop()
}

async function refill(scratch: string): Promise<void> {
  stock.push(...(await makePipes(scratch)))
  coming = undefined
}

/** Instead of the writer, which is closed: one that holds both ends, so that whoever writes need not care for who reads. */
export function lastingWriter({ writer }: OutputPipe): number {
  const lasting = openSync(`/proc/self/fd/${writer}`, constants.O_RDWR)
  closeSync(writer)
  return lasting
}

async function makePipes(scratch: string): Promise<OutputPipe[]> {
  let folder: string | undefined
  try {
    folder = mkdtempSync(join(scratch, 'troupe-pipes-'))
    const own = folder
    const files = Array.from({ length: batch }, (_, index) => join(own, String(index)))
    await new Promise<void>((resolve, reject) => {
      execFile('mkfifo', ['-m', '600', ...files], { env: { PATH: '/usr/bin:/bin' } }, (error) => (error ? reject(error) : resolve()))
    })
    return files.map(opened)
  } catch {
    return []
  } finally {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
  }
}

function opened(file: string): OutputPipe {
  const reader = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK)
  const writer = openSync(file, constants.O_WRONLY)
  return {
    writer,
    read(take, done) {
      const socket = new Socket({
        fd: reader,
        readable: true,
        writable: false,
        onread: {
          buffer: Buffer.alloc(pieceSize),
          callback: (length, buffer) => {
            take(buffer.subarray(0, length))
            return true
          },
        },
      })
      socket.on('error', () => socket.destroy())
      socket.once('close', done)
      socket.once('end', () => socket.destroy())
      return () => socket.destroy()
    },
    close: () => closeSync(reader),
  }
}
