import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Browser, chromium } from 'playwright-core'

// A real browser from the package registry: nothing is installed on the machine.

const manifest = join(import.meta.dirname, '../node_modules/@sparticuz/chromium/package.json')
const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { readonly version: string }

/** The unpacked browser. It is shared by all tests; a copy that is not complete never has this name. */
async function unpacked(): Promise<string> {
  const folder = join(tmpdir(), `troupe-chromium-${version}`)
  if (existsSync(folder)) return folder
  const started = mkdtempSync(`${folder}-`)
  const before = process.env.TMPDIR
  try {
    // The package unpacks to the temporary folder, and takes any file there for complete. Its libraries come with this variable.
    process.env.TMPDIR = started
    process.env.AWS_LAMBDA_JS_RUNTIME = 'nodejs22.x'
    const { default: Chromium } = await import('@sparticuz/chromium')
    await Chromium.executablePath()
    renameSync(started, folder)
  } catch (error) {
    // Another process was faster.
    if (!existsSync(folder)) throw error
    rmSync(started, { recursive: true, force: true })
  } finally {
    if (before === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = before
    delete process.env.AWS_LAMBDA_JS_RUNTIME
  }
  return folder
}

/**
 * The package has Open Sans, which is narrower than what most machines without a desktop have. Its own configuration names
 * folders of another system.
 */
function fontsIn(folder: string): string {
  const path = join(folder, 'troupe-fonts.conf')
  if (existsSync(path)) return path
  const prefer = (family: string, font: string): string =>
    `<alias binding="same"><family>${family}</family><prefer><family>${font}</family></prefer></alias>`
  const written = `${path}-${process.pid}`
  writeFileSync(
    written,
    [
      '<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig>',
      `<dir>${join(folder, 'fonts/fonts')}</dir><dir>/usr/share/fonts</dir><cachedir>${join(folder, 'fonts-cache')}</cachedir>`,
      ...['sans-serif', 'system-ui', 'ui-sans-serif'].map((family) => prefer(family, 'Open Sans')),
      ...['monospace', 'ui-monospace'].map((family) => prefer(family, 'DejaVu Sans Mono')),
      '</fontconfig>',
    ].join('\n'),
  )
  renameSync(written, path)
  return path
}

/** Loads nothing from elsewhere by itself. */
const flags = [
  '--no-sandbox',
  '--no-zygote',
  '--disable-gpu',
  '--disable-quic',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
  '--font-render-hinting=none',
]

export async function openBrowser(): Promise<Browser> {
  const folder = await unpacked()
  const libraries = [join(folder, 'al2023', 'lib'), folder, process.env.LD_LIBRARY_PATH].filter(Boolean).join(':')
  return chromium.launch({
    executablePath: join(folder, 'chromium'),
    args: flags,
    env: { ...process.env, LD_LIBRARY_PATH: libraries, FONTCONFIG_FILE: fontsIn(folder) } as { [name: string]: string },
  })
}
