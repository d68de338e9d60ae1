import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll } from 'vitest'

export const page = '<!doctype html><title>Troupe</title><script src="/assets/page-1.js"></script>'
export const script = 'console.log("hello")'

const folders: string[] = []
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))))

/** A folder as `npm run build` makes it of the web chat. */
export async function webFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'troupe-web-'))
  folders.push(folder)
  await mkdir(join(folder, 'assets'))
  await writeFile(join(folder, 'index.html'), page)
  await writeFile(join(folder, 'assets', 'page-1.js'), script)
  await writeFile(join(folder, 'assets', 'page-1.js.gz'), gzipSync(script))
  await writeFile(join(folder, 'secret.txt'), 'secret')
  return folder
}
