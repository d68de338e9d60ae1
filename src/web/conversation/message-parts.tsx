import { useEffect, useState } from 'preact/hooks'
import type { InputPart, OutputPart } from '../../contracts/index.ts'
import { size } from '../../view/index.ts'
import { LongText } from '../markdown/long-text.tsx'
import { safeAddress } from '../markdown/markdown-html.ts'
import { handleOf, loadOutput, saveOutput } from '../state/outputs.ts'
import { usePage } from '../state/page.ts'
import { Icon } from '../ui/icon.tsx'
import { useView } from './conversation-view.ts'

export function MessageParts({ parts }: { readonly parts: readonly InputPart[] }) {
  const files = parts.flatMap((part) => (part.type === 'text' ? [] : [part]))
  return (
    <>
      {files.length > 0 && (
        <div class="part-files">
          {files.map((part, index) => (
            <InputFile key={index} part={part} />
          ))}
        </div>
      )}
      {parts.map(
        (part, index) =>
          part.type === 'text' && part.text !== '' && <LongText key={index} text={part.text} lines={14} characters={2_400} />,
      )}
    </>
  )
}

/** Pictures without code. */
const shownTypes = /^image\/(?:png|jpeg|gif|webp|avif)$/

function InputFile({ part }: { readonly part: Exclude<InputPart, { type: 'text' }> }) {
  const { mediaType, data, bytes = (data.length * 3) / 4 } = part
  const name = ('name' in part && part.name) || mediaType
  const handle = handleOf(part)
  if (handle !== undefined) return <StoredFile handle={handle} name={name} mediaType={mediaType} bytes={part.bytes} />
  // An address is never fetched.
  if (data.startsWith('https:')) return <FileLink name={data} address={data} />
  const url = data.startsWith('data:') ? data : `data:${mediaType};base64,${data}`
  return shownTypes.test(mediaType) ? <img class="part-image" src={url} alt={name} /> : <FileName name={name} bytes={bytes} />
}

/** Parts of the output of a call. Its text is shown elsewhere. */
export const OutputFiles = ({ parts }: { readonly parts: readonly OutputPart[] }) => (
  <div class="part-files">
    {parts.map((part, index) => {
      if (part.type === 'text') return null
      if (part.type === 'link') return <FileLink key={index} name={part.name ?? part.uri} address={part.uri} />
      const { blob, mediaType, name = mediaType, bytes } = part
      return <StoredFile key={index} handle={blob} name={name} mediaType={mediaType} bytes={bytes} />
    })}
  </div>
)

interface StoredFileProps {
  readonly handle: string
  readonly name: string
  readonly mediaType: string
  readonly bytes: number | undefined
}

function StoredFile({ handle, name, mediaType, bytes }: StoredFileProps) {
  const page = usePage()
  const { store } = useView()
  const [url, setUrl] = useState<string | undefined>()
  const isShown = shownTypes.test(mediaType)
  useEffect(() => {
    if (!isShown) return
    let made: string | undefined
    let isGone = false
    loadOutput(page, store.id, handle).then(
      (blob) => {
        if (isGone) return
        made = URL.createObjectURL(new Blob([blob], { type: mediaType }))
        setUrl(made)
      },
      // Its name is shown, and saving it says what is wrong.
      () => {},
    )
    return () => {
      isGone = true
      if (made !== undefined) URL.revokeObjectURL(made)
    }
  }, [page, store, handle, mediaType, isShown])
  if (url !== undefined) return <img class="part-image" src={url} alt={name} />
  return <FileName name={name} bytes={bytes} onSave={() => void saveOutput(page, store.id, { handle, name })} />
}

function FileLink({ name, address }: { readonly name: string; readonly address: string }) {
  const href = safeAddress(address)
  if (href === undefined) return <FileName name={name} />
  return (
    <a class="part-file box" href={href} target="_blank" rel="noopener noreferrer">
      <Icon name="link" />
      <span class="truncate">{name}</span>
    </a>
  )
}

interface FileNameProps {
  readonly name: string
  readonly bytes?: number | undefined
  onSave?(): void
}

function FileName({ name, bytes, onSave }: FileNameProps) {
  const Box = onSave ? 'button' : 'span'
  return (
    <Box class="part-file box" {...(onSave && { type: 'button', title: `Save ${name}`, onClick: onSave })}>
      <Icon name="file" />
      <span class="truncate">{name}</span>
      {bytes !== undefined && <span class="muted small">{size(Math.round(bytes))}</span>}
    </Box>
  )
}
