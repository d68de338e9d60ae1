import type { Signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { AgentDescription, InputContract, InputMode } from '../../contracts/index.ts'
import type { Draft } from '../state/actions.ts'
import { attachProblem, fileAttachment, maxTypedChars, textAttachment } from '../state/attachments.ts'
import { type Attachment, emptyDraft, isEmptyDraft, type MessageDraft, partsOf } from '../state/drafts.ts'
import { keysText } from '../state/shortcut-keys.ts'
import { settingProblem, turnSettings, typedNames } from '../state/turn-settings.ts'
import { Icon } from '../ui/icon.tsx'
import { IconButton } from '../ui/icon-button.tsx'
import { AttachmentChips, SettingChips } from './draft-chips.tsx'
import { expectedInput } from './json-input.ts'
import { ModelMenu } from './model-menu.tsx'
import { type CurrentSettings, TurnOptions } from './turn-options.tsx'
import { useFileDrop } from './use-file-drop.ts'

const enterKey = keysText('Enter')
const steerKeys = keysText('Alt+Enter')

interface MessageBoxProps {
  /** `openDraft(ID)` of a session, or `openDraft('new')`. */
  readonly draft: Signal<MessageDraft>
  readonly placeholder: string
  /** Settings of the next turn are offered for this agent. */
  readonly agent: AgentDescription | undefined
  /** Settings that apply now. Default: those of the agent. */
  readonly current?: CurrentSettings | undefined
  /** What the message must be. Only the first message of a session is checked. Default: any text. */
  readonly input?: InputContract
  readonly canSteer?: boolean
  /** Instead of "Send" while nothing is written, and before it otherwise: how to stop the turn. */
  readonly stop?: ComponentChildren
  readonly autoFocus?: boolean
  /** A promise: the draft stays until it is `true`. `undefined`: the message is kept elsewhere, and the draft is cleared immediately. */
  onSend(message: Draft): Promise<boolean> | undefined
}

/** A text with attachments and settings. Enter sends, Shift+Enter is a new line, Alt+Enter steers. */
export function MessageBox(props: MessageBoxProps) {
  const { draft, placeholder, agent, current = agent, input, canSteer = false, stop, autoFocus = false } = props
  const { problem, setProblem, isSending, send } = useSending(props)
  const isDropping = useFileDrop((files) => void addFiles(files))
  const picker = useRef<HTMLInputElement>(null)
  const { value } = draft
  const isEmpty = isEmptyDraft(value)
  const update = (changes: Partial<MessageDraft>): void => {
    setProblem('')
    draft.value = { ...draft.value, ...changes }
  }
  const add = (added: readonly Attachment[]): void => {
    const refused = attachProblem(draft.value.attachments, added)
    if (refused === undefined) update({ attachments: [...draft.value.attachments, ...added] })
    else setProblem(refused)
  }
  const addFiles = async (files: readonly File[]): Promise<void> => {
    try {
      add(await Promise.all(files.map(fileAttachment)))
    } catch {
      setProblem('The file cannot be read. A folder cannot be attached.')
    }
  }
  return (
    <div class="message-box" data-dropping={isDropping ? '' : undefined}>
      <AttachmentChips
        attachments={value.attachments}
        onRemove={(index) => update({ attachments: value.attachments.filter((_, at) => at !== index) })}
      />
      <SettingChips typed={value.settings} onChange={(settings) => update({ settings })} />
      <MessageText {...{ draft, placeholder, autoFocus }} update={update} add={add} addFiles={addFiles} send={send} />
      {input?.format === 'json' && <p class="message-hint muted small mono">Expects JSON: {expectedInput(input.schema)}</p>}
      <p class="message-hint tone-error small" role="alert">
        {problem}
      </p>
      <div class="message-tools line">
        <IconButton icon="attach" label="Attach file" onClick={() => picker.current?.click()} />
        {agent && current && (
          <TurnOptions agent={agent} current={current} typed={value.settings} onChange={(settings) => update({ settings })} />
        )}
        {agent && current && (
          <ModelMenu agent={agent} current={current} typed={value.settings} onChange={(settings) => update({ settings })} />
        )}
        <span class="message-keys grow tone-muted small" aria-hidden="true">
          <span>
            {enterKey}: {canSteer ? 'send after this' : 'send'}
          </span>
          {canSteer && <span>{steerKeys}: tell it now</span>}
        </span>
        {canSteer && !isEmpty && (
          <button type="button" class="button button-small" title={`Enters the running turn (${steerKeys})`} onClick={() => send('steer')}>
            <Icon name="steer" /> Steer
          </button>
        )}
        {stop}
        {(!stop || !isEmpty) && (
          <button
            type="button"
            class="button button-primary message-send"
            aria-label="Send"
            title={`${canSteer ? 'Send: begins the next turn' : 'Send'} (${enterKey})`}
            disabled={isEmpty || isSending}
            onClick={() => send('queue')}
          >
            <Icon name="arrowUp" />
          </button>
        )}
      </div>
      <input
        ref={picker}
        type="file"
        multiple
        hidden
        onChange={({ currentTarget }) => {
          void addFiles([...(currentTarget.files ?? [])])
          currentTarget.value = ''
        }}
      />
    </div>
  )
}

function useSending({ draft, canSteer = false, onSend }: MessageBoxProps) {
  const [problem, setProblem] = useState('')
  const [isSending, setSending] = useState(false)
  // A key that is held repeats before the box is rendered again.
  const isBusy = useRef(false)
  const send = (mode: InputMode): void => {
    const { value } = draft
    if (isEmptyDraft(value) || isBusy.current) return
    const problems = typedNames(value.settings).flatMap((name) => settingProblem(name, value.settings[name] ?? '') ?? [])
    setProblem(problems[0] ?? '')
    if (problems.length > 0) return
    const settings = turnSettings(value.settings)
    const sent = onSend({ parts: partsOf(value), mode: canSteer ? mode : 'queue', ...(settings && { settings }) })
    if (!sent) draft.value = emptyDraft
    if (!sent) return
    isBusy.current = true
    setSending(true)
    void sent.then((isDone) => {
      isBusy.current = false
      setSending(false)
      if (isDone && draft.value === value) draft.value = emptyDraft
    })
  }
  return { problem, setProblem, isSending, send }
}

interface MessageTextProps extends Pick<MessageBoxProps, 'draft' | 'placeholder'> {
  readonly autoFocus: boolean
  update(changes: Partial<MessageDraft>): void
  add(attachments: readonly Attachment[]): void
  addFiles(files: readonly File[]): Promise<void>
  send(mode: InputMode): void
}

function MessageText({ draft, placeholder, autoFocus, update, add, addFiles, send }: MessageTextProps) {
  const area = useRef<HTMLTextAreaElement>(null)
  const { text } = draft.value
  useLayoutEffect(() => fitHeight(area.current, text), [text])
  useLayoutEffect(() => {
    if (autoFocus) area.current?.focus({ preventScroll: true })
  }, [autoFocus])
  return (
    <textarea
      ref={area}
      class="message-text"
      aria-label="Message"
      placeholder={placeholder}
      rows={1}
      enterkeyhint="send"
      value={text}
      onInput={({ currentTarget }) => {
        const { value } = currentTarget
        if (value.length - text.length <= maxTypedChars) return update({ text: value })
        currentTarget.value = ''
        update({ text: '' })
        add([textAttachment(value)])
      }}
      onBeforeInput={(event) => {
        // Also of what is dropped, and of programs that type. The field would need seconds for it.
        const inserted = event.data ?? event.dataTransfer?.getData('text/plain') ?? ''
        if (inserted.length <= maxTypedChars) return
        event.preventDefault()
        add([textAttachment(inserted)])
      }}
      onPaste={(event) => {
        const files = [...(event.clipboardData?.files ?? [])]
        const pasted = event.clipboardData?.getData('text/plain') ?? ''
        if (files.length === 0 && pasted.length <= maxTypedChars) return
        event.preventDefault()
        if (files.length > 0) void addFiles(files)
        else add([textAttachment(pasted)])
      }}
      onKeyDown={(event) => {
        // Enter ends the composition of an input method.
        if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
        event.preventDefault()
        send(event.altKey ? 'steer' : 'queue')
      }}
    />
  )
}

/** Grows with its text. The style sheet has the limit. */
function fitHeight(area: HTMLTextAreaElement | null, text: string): void {
  if (!area) return
  area.style.height = 'auto'
  if (text !== '') area.style.height = `${area.scrollHeight}px`
}
