// Writes docs/images/tree.svg: the tree and the answer of `troupe demo`, with the colours and the width of a terminal.
// Boxes and bars are drawn as shapes, so that the picture looks the same in every font.
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const root = join(import.meta.dirname, '..')
const target = join(root, 'docs/images/tree.svg')
const columns = 100
const cell = { width: 7.8, height: 18, font: 13 }
const padding = 16

/** The final tree and its legend, then the answer. What the demo prints while it runs is left out. */
function record() {
  const { stdout, stderr, status } = spawnSync(process.execPath, [join(root, 'bin/troupe.mjs'), 'demo', '--color', 'always'], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH },
  })
  if (status !== 0) throw new Error(`troupe demo exited with code ${status}:\n${stderr}`)
  const printed = stderr.split('\n')
  const first = printed.findIndex((line) => plain(line).startsWith('lead  '))
  const legend = printed.findIndex((line, index) => index > first && plain(line).startsWith('∥'))
  if (first < 0 || legend < 0) throw new Error('troupe demo printed no tree')
  return ['$ troupe demo', '', ...printed.slice(first, legend + 1), '', ...stdout.trimEnd().split('\n')]
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one
const escapes = /\u001b\[([\d;]*)m/g
const plain = (line) => line.replaceAll(escapes, '')

const styles = { 1: 'bold', 2: 'dim', 3: 'italic', 31: 'red', 32: 'green', 33: 'yellow', 36: 'cyan' }
const resets = { 22: ['bold', 'dim'], 23: ['italic'], 39: ['red', 'green', 'yellow', 'cyan'] }

/** The characters of a line with their columns and styles. */
function* charactersOf(line) {
  const active = new Set()
  let column = 0
  // Splitting by an expression with a group: texts, and the codes between them.
  for (const [index, part] of line.split(escapes).entries()) {
    if (index % 2 === 0) {
      for (const character of part) yield { character, column: column++, style: [...active].join(' ') }
      continue
    }
    for (const code of part.split(';')) {
      if (styles[code]) active.add(styles[code])
      for (const style of resets[code] ?? []) active.delete(style)
    }
  }
}

const number = (value) => String(Math.round(value * 100) / 100)
const escapeText = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

/** Box characters as lines inside of one cell, in eighths of it: x1, y1, x2, y2. */
const lines = {
  '─': [[0, 4, 8, 4]],
  '━': [[0, 4, 8, 4]],
  '│': [[4, 0, 4, 8]],
  '├': [[4, 0, 4, 8], [4, 4, 8, 4]], // biome-ignore format: one line a character
  '└': [[4, 0, 4, 4], [4, 4, 8, 4]], // biome-ignore format: one line a character
  '∥': [[3, 2, 3, 6], [5, 2, 5, 6]], // biome-ignore format: one line a character
  '▏': [[0, 0, 0, 8]],
  '▕': [[8, 0, 8, 8]],
}
const blocks = { '█': 1, '▒': 0.55 }
const kindOf = (character) => (character in lines || character in blocks ? character : 'text')

/** Characters of one kind and style that follow each other. Two spaces in a row end a text. */
function runsOf(line) {
  const runs = []
  for (const { character, column, style } of charactersOf(line)) {
    const kind = kindOf(character)
    const last = runs.at(-1)
    const continues = last?.kind === kind && last.style === style && last.column + last.text.length === column
    if (continues && !(character === ' ' && last.text.endsWith(' '))) last.text += character
    else if (character !== ' ') runs.push({ kind, style, column, text: character })
  }
  return runs
}

function draw({ kind, style, column, text }, row) {
  const [x, y] = [padding + column * cell.width, padding + row * cell.height]
  const width = number(text.trimEnd().length * cell.width)
  if (kind === 'text') {
    const place = `x="${number(x)}" y="${y + cell.font}" textLength="${width}"`
    return `<text class="${style}" ${place}>${escapeText(text.trimEnd())}</text>`
  }
  if (kind in blocks) {
    return `<rect class="${style}" x="${number(x)}" y="${y + 4}" width="${width}" height="${cell.height - 8}" fill-opacity="${blocks[kind]}"/>`
  }
  const at = (cellX, cellY, index) => `${number(x + (index + cellX / 8) * cell.width)} ${number(y + (cellY / 8) * cell.height)}`
  const path = [...text].flatMap((_, index) => lines[kind].map(([x1, y1, x2, y2]) => `M${at(x1, y1, index)}L${at(x2, y2, index)}`))
  return `<path class="${style}${kind === '━' ? ' thick' : ''}" d="${path.join('')}"/>`
}

const theme = (colours) =>
  Object.entries(colours)
    .map(([name, colour]) => `.${name}{fill:${colour}}path.${name},.${name}>path{stroke:${colour}}`)
    .join('')
const light = { back: '#f6f8fa', plain: '#1f2328', dim: '#59636e', red: '#c0242d', green: '#19702f', yellow: '#8a5a00', cyan: '#0b6a80' }
const dark = { back: '#11161d', plain: '#e6edf3', dim: '#9aa4af', red: '#ff8078', green: '#56d364', yellow: '#e3b341', cyan: '#5fd0e0' }

function svg(printed) {
  const [width, height] = [columns * cell.width + 2 * padding, printed.length * cell.height + 2 * padding]
  const style = [
    `text{font:${cell.font}px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace}`,
    '.bold{font-weight:bold}.italic{font-style:italic}.thick{stroke-width:3}',
    theme(light),
    `@media(prefers-color-scheme:dark){${theme(dark)}}`,
  ].join('\n')
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${number(width)} ${height}" width="${number(width)}" height="${height}" role="img">`,
    '<title>The tree and the answer that troupe demo prints</title>',
    `<style>${style}</style>`,
    `<rect class="back" width="100%" height="100%" rx="8"/>`,
    `<g class="plain">`,
    ...printed
      .map((line, row) =>
        runsOf(line)
          .map((run) => draw(run, row))
          .join(''),
      )
      .filter((line) => line !== ''),
    '</g></svg>',
    '',
  ].join('\n')
}

mkdirSync(dirname(target), { recursive: true })
writeFileSync(target, svg(record()))
