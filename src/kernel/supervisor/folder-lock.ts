import { rm } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { TroupeError } from '../../contracts/index.ts'
import { shortHash } from '../../util/hash.ts'

/**
 * One supervisor for a folder. The lock is a socket: the system releases it when its process ends, whatever happens, and another process
 * that has got the same id cannot be mistaken for the owner. In the temporary folder, because paths of sockets are short.
 */
export async function lockFolder(folder: string): Promise<() => void> {
  const name = `troupe-${shortHash(folder)}`
  const path = process.platform === 'win32' ? `\\\\.\\pipe\\${name}` : join(tmpdir(), `${name}.sock`)
  const inUse = new TroupeError('usage', 'Another `troupe up` runs in this folder.', { remedy: 'Stop it first, or use another folder.' })
  if (await isAnswered(path)) throw inUse
  await rm(path, { force: true })
  const server = createServer((socket) => socket.destroy()).unref()
  await new Promise<void>((resolve, reject) => {
    // Without a temporary folder, the lease of the kernel in the store has to do.
    server.once('error', ({ code }: NodeJS.ErrnoException) => (code === 'EADDRINUSE' ? reject(inUse) : resolve()))
    server.listen(path, resolve)
  })
  return () => void server.close()
}

function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path, () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}
