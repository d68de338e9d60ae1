import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { type CallNode, decidedText, size } from '../../view/index.ts'
import { ColouredText } from '../highlight/coloured-text.tsx'
import { LongText } from '../markdown/long-text.tsx'
import { attempt } from '../state/actions.ts'
import { loadOutput, saveOutput } from '../state/outputs.ts'
import { usePage } from '../state/page.ts'
import { CopyIcon } from '../ui/copy-button.tsx'
import { Diff } from '../ui/diff.tsx'
import { useView } from './conversation-view.ts'
import { OutputFiles } from './message-parts.tsx'
import { Note } from './notes.tsx'
import { withoutCodes } from './terminal-text.ts'

export function CallDetails({ call }: { readonly call: CallNode }) {
  const { input, reason, permit, sandbox, changes = [], parts, hooks, error, type } = call
  const isCommand = type === 'command_execution'
  return (
    <div class="call-details stack">
      {reason !== '' && (
        <p class="muted">
          “<LongText text={reason} characters={2_000} isExact />”
        </p>
      )}
      {permit?.kind === 'approved' && <p class="muted small">Permission: {decidedText('approved', permit.by)}</p>}
      {'by' in sandbox && (
        <p class="muted small">
          {sandbox.kind === 'outside' ? 'Ran outside the sandbox' : 'May run outside the sandbox'}, {decidedText('approved', sandbox.by)}
        </p>
      )}
      {hooks.map((hook, index) => (
        <Note key={index} note={hook} />
      ))}
      {isCommand ? <Terminal call={call} /> : changes.length === 0 && <Code label="Input" text={JSON.stringify(input ?? {}, null, 2)} />}
      {changes.map(({ path, to, diff }, index) => (
        <div key={index}>
          {!/^(?:diff|---) /.test(diff) && <p class="mono small">{to === undefined ? path : `${path} → ${to}`}</p>}
          {diff === '' ? <p class="muted small">No text changed.</p> : <Diff diff={diff} />}
        </div>
      ))}
      {!isCommand && changes.length === 0 && <Output call={call} />}
      {parts && <OutputFiles parts={parts} />}
      {error && (
        <p class="callout callout-error">
          <strong>{error.class.replaceAll('_', ' ')}</strong> <LongText text={error.message} characters={2_000} isExact />
          {error.remedy !== undefined && (
            <span class="muted">
              {' '}
              <LongText text={error.remedy} characters={2_000} isExact />
            </span>
          )}
        </p>
      )}
      <StoredOutput call={call} />
    </div>
  )
}

/** The result for the model, unless it only repeats the error. */
function Output({ call: { content, output, error } }: { readonly call: CallNode }) {
  const text = content ?? output ?? ''
  const isError = error !== undefined && text.length < error.message.length + (error.remedy?.length ?? 0) + 40
  return text === '' || isError ? null : <Code label="Output" text={text} />
}

const shownCharacters = 20_000

/** Text of a program, with a label and a button that copies it. */
export function Code({ label, text, children }: { readonly label: string; readonly text: string; readonly children?: ComponentChildren }) {
  const isJson = (label === 'JSON' || label === 'Input') && text.length <= shownCharacters
  return (
    <div class="md-code">
      <div class="md-code-head">
        <span>{label}</span>
        <CopyIcon text={text} label="Copy" />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <pre tabIndex={0}>
        {children ??
          (isJson ? <ColouredText text={text} language="json" /> : <LongText text={text} characters={shownCharacters} isExact />)}
      </pre>
    </div>
  )
}

function Terminal({ call: { input, about, content, output, exitCode } }: { readonly call: CallNode }) {
  const command = typeof input?.command === 'string' ? input.command : about
  const text = withoutCodes(content ?? output ?? '')
  return (
    <Code label={exitCode === undefined ? 'Terminal' : `Terminal · exit ${exitCode}`} text={`$ ${command}\n${text}`}>
      <span class="terminal-command">
        $ <LongText text={command} characters={20_000} isExact />
      </span>
      {'\n'}
      <LongText text={text} characters={20_000} isExact />
    </Code>
  )
}

/** The full text of an oversized result. */
function StoredOutput({ call: { stored, name } }: { readonly call: CallNode }) {
  const page = usePage()
  const { store } = useView()
  const [text, setText] = useState<string | undefined>()
  if (!stored) return null
  const load = (): Promise<boolean> =>
    attempt(page, async () => {
      setText(await (await loadOutput(page, store.id, stored.handle)).text())
    })
  return (
    <>
      <p class="muted small">
        The whole output has {size(stored.bytes)}.{' '}
        {text === undefined && (
          <button type="button" class="link-button small" onClick={() => void load()}>
            Show
          </button>
        )}{' '}
        <button
          type="button"
          class="link-button small"
          onClick={() => void saveOutput(page, store.id, { handle: stored.handle, name: `${name}.txt` })}
        >
          Save
        </button>
      </p>
      {text !== undefined && <Code label="Whole output" text={withoutCodes(text)} />}
    </>
  )
}
