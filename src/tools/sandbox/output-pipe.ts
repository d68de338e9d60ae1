// Pipes for the output of commands. Node gives its children sockets: programs that open `/dev/stdout` or `/dev/stderr` fail
// on those, and each piece that is read from them takes memory of its own.
//
// 1. A pipe in the pool has no name any more: no other process can open it, and nothing is left of it.
// 2. Where no pipe can be created, a command gets a socket.
import { execFile } from 'node:child_process'
import { closeSync, constants, mkdtempSync, openSync, rmSync } from 'node:fs'
import { Socket } from 'node:net'
import { join } from 'node:path'

export interface OutputPipe {
  /** For the command. Close it when the command has it. */
  readonly writer: number
  /** Delivers data to `take`, in a buffer that is reused, and calls `done` at the end. The result stops it. */
  read(take: (piece: Uint8Array) => void, done: () => void): () => void
  close(): void
}

/** Created together: a program for each would take longer than everything else. */
const batch = 16
/** More are created before the pool is empty, so that commands rarely wait for them. */
const fewest = 4
const pieceSize = 64 * 1024

const pool: OutputPipe[] = []
let refilling: Promise<void> | undefined

export async function takePipe(scratch = '/tmp'): Promise<OutputPipe | undefined> {
  if (pool.length <= fewest) refilling ??= refill(scratch)
  if (pool.length === 0) await refilling
  return pool.pop()
}

async function refill(scratch: string): Promise<void> {
  pool.push(...(await makePipes(scratch)))
  refilling = undefined
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
