import { EventEmitter } from 'node:events'
import { emitKeypressEvents } from 'node:readline'
import { StringDecoder } from 'node:string_decoder'

/** A pressed key, as `readline` names it. `text`: what it types. */
export interface Key {
  readonly text: string
  readonly name?: string | undefined
  readonly ctrl: boolean
  readonly meta: boolean
  readonly shift: boolean
}

interface KeyListeners {
  key(key: Key): void
  paste(text: string): void
  /** All keys of one input have been reported. */
  read(): void
}

/** A longer wait would delay Esc itself. */
const escapeCodeTimeout = 30
const pasteStart = '\u001b[200~'
const pasteEnd = '\u001b[201~'

/** Reads keys and bracketed pastes, each paste as a whole. Returns the function that stops reading. */
export function readKeys(input: NodeJS.ReadStream, listeners: KeyListeners): () => void {
  const keys = new EventEmitter()
  // `readline` needs of its input no more than this.
  const stream = keys as NodeJS.ReadableStream
  keys.on('keypress', (text: string | undefined, key: Partial<Key> & { readonly sequence?: string }) =>
    listeners.key({ text: text ?? '', name: key.name, ctrl: key.ctrl ?? false, meta: key.meta ?? false, shift: key.shift ?? false }),
  )
  emitKeypressEvents(stream, { escapeCodeTimeout } as unknown as Parameters<typeof emitKeypressEvents>[1])
  const decoder = new StringDecoder('utf8')
  let pasted: string | undefined
  const read = (text: string): void => {
    if (pasted === undefined) {
      const start = text.indexOf(pasteStart)
      if (start !== 0) keys.emit('data', start < 0 ? text : text.slice(0, start))
      if (start < 0) return
      pasted = ''
      read(text.slice(start + pasteStart.length))
      return
    }
    // The mark may come in two parts.
    const from = Math.max(0, pasted.length - pasteEnd.length)
    pasted += text
    const end = pasted.indexOf(pasteEnd, from)
    // A terminal that never ends a paste must not lock the keyboard.
    if (end < 0 && text !== '\u0003') return
    const [whole, rest] = end < 0 ? [pasted.slice(0, -1), ''] : [pasted.slice(0, end), pasted.slice(end + pasteEnd.length)]
    pasted = undefined
    listeners.paste(whole)
    if (rest !== '') read(rest)
  }
  const onData = (chunk: Buffer): void => {
    read(decoder.write(chunk))
    listeners.read()
  }
  input.setRawMode(true)
  input.on('data', onData)
  input.resume()
  return () => {
    input.off('data', onData)
    input.setRawMode(false)
    input.pause()
  }
}
