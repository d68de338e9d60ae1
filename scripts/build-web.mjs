// Makes `dist/web`: the web chat as a page, a script and a style sheet, with their compressed forms beside them.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'vite'

const folder = 'dist/web'

export async function buildWeb() {
  await build({
    configFile: false,
    root: 'src/web',
    // Addresses are relative to the page, which may be below a path.
    base: './',
    logLevel: 'warn',
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    build: {
      outDir: `../../${folder}`,
      emptyOutDir: true,
      target: 'es2023',
      // A strict content security policy allows no inline code.
      modulePreload: false,
      assetsInlineLimit: 0,
      license: { fileName: 'licenses.md' },
    },
  })
  const files = readdirSync(folder, { recursive: true }).filter((name) => /\.(?:js|css|html)$/.test(name))
  for (const file of files.map((name) => join(folder, name))) writeFileSync(`${file}.gz`, gzipSync(readFileSync(file), { level: 9 }))
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) await buildWeb()
