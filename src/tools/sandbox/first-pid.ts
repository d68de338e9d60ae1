/*
 * Where the program that builds the walls tells which process is the first inside.
 *
 * 1. Whoever writes to it holds both of its ends. So where we are gone by then, that program does not end in the middle of its
 *    work, with half a process left behind: it goes on, and hears at the gate that nobody is there.
 */
import type { ChildProcess } from 'node:child_process'
import { closeSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { lastingWriter, type OutputPipe, takePipe } from './output-pipe.ts'

export interface FirstPid {
  /** For the program; a socket of its own where no pipe could be made. */
  readonly descriptor: number | 'pipe'
  /** To be called when the program has it, as this descriptor. Nothing comes where it fails before. */
  read(child: ChildProcess | undefined, descriptor: number): Promise<number>
}

export async function firstPid(): Promise<FirstPid> {
  const pipe = await takePipe()
  const writer = pipe && lastingWriter(pipe)
  return {
    descriptor: writer ?? 'pipe',
    read: (child, descriptor) =>
      new Promise((resolve) => {
        if (writer !== undefined) closeSync(writer)
        let text = ''
        const stop = follow(pipe ?? (child?.stdio[descriptor] as Readable | undefined), (piece) => {
          text += Buffer.from(piece).toString()
          const pid = /"child-pid":\s*(\d+)[^\d]/.exec(text)?.[1]
          if (pid === undefined) return
          stop()
          resolve(Number(pid))
        })
        child?.once('exit', stop)
        if (!child) stop()
      }),
  }
}

function follow(source: OutputPipe | Readable | undefined, take: (piece: Uint8Array) => void): () => void {
  if (!source) return () => {}
  if ('writer' in source) return source.read(take, () => {})
  source.on('data', take).on('error', () => {})
  return () => source.destroy()
}
