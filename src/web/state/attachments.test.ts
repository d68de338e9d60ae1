import { describe, expect, it } from 'vitest'
import { attachProblem, fileAttachment, textAttachment } from './attachments.ts'
import type { Attachment } from './drafts.ts'

const png = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

describe('attachments', () => {
  it('are images if a model can read them, and files otherwise', async () => {
    expect(await fileAttachment(new File([png], 'a.bin', { type: 'application/x-thing' }))).toEqual({
      name: 'a.bin',
      bytes: 8,
      part: { type: 'image', mediaType: 'image/png', data: 'iVBORw0KGgo=' },
    })
    expect(await fileAttachment(new File(['a'], 'a.svg', { type: 'image/svg+xml' }))).toMatchObject({
      part: { type: 'file', mediaType: 'image/svg+xml', name: 'a.svg' },
    })
    expect(await fileAttachment(new File(['a'], '', { type: '' }))).toMatchObject({
      name: 'file',
      part: { mediaType: 'application/octet-stream' },
    })
  })
  it('are refused together if they are empty, too many, or larger than 15 MB', () => {
    const large = (bytes: number): Attachment => ({ name: 'large', bytes, part: { type: 'file', mediaType: 'a/b', data: '' } })
    expect(attachProblem([large(8_000_000)], [large(7_000_000)])).toBeUndefined()
    expect(attachProblem([large(8_000_000)], [large(7_200_000)])).toBe('large was not attached: a message can have 15 MB.')
    expect(attachProblem([], [large(0)])).toBe('large is empty.')
    const text = textAttachment('é')
    expect(text.bytes).toBe(2)
    expect(attachProblem(Array(99).fill(text), [text])).toBe('A message can have 99 attachments.')
  })
})
