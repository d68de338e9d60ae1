import type { AgentDescription } from '../../contracts/index.ts'
import { hashOf } from '../state/hash-route.ts'
import { agentGraph, type GraphNode, type Place } from './agent-graph.ts'

/** Of a box, in pixels before it is stretched. */
const width = 340
const columnStep = width + 60
/** With descriptions, unless there are many boxes above each other. */
const sizes = {
  full: { height: 62, rowStep: 76 },
  dense: { height: 34, rowStep: 44 },
} as const
const maxFullRows = 8
/** How much narrower boxes get before the graph scrolls, and how much wider where there is room. */
const stretch = { least: 0.42, most: 1.35 } as const

const left = ({ column }: Place): number => column * columnStep

const percent = (part: number, all: number): string => `${(part / all) * 100}%`

/** Agents as boxes, callers on the left. Boxes and gaps share the available width. */
export function AgentGraphView({ root, agents }: { readonly root: string; readonly agents: readonly AgentDescription[] }) {
  const byName = new Map(agents.map((agent) => [agent.name, agent]))
  const { nodes, edges, columns, rows } = agentGraph(root, (name) => byName.get(name)?.agents ?? [])
  const isDense = rows > maxFullRows
  const { height, rowStep } = isDense ? sizes.dense : sizes.full
  const [full, tall] = [columns * columnStep - (columnStep - width), rows * rowStep - (rowStep - height)]
  const middle = ({ row }: Place): number => row * rowStep + height / 2
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a large graph scrolls by keyboard
    <section class="graph" tabIndex={0} aria-label={`Agents that ${root} calls`}>
      <div class="graph-box" style={{ maxWidth: `${full * stretch.most}px`, minWidth: `${full * stretch.least}px`, height: `${tall}px` }}>
        <svg viewBox={`0 0 ${full} ${tall}`} preserveAspectRatio="none" aria-hidden="true">
          {edges.map(({ from, to, places }) => (
            <path key={`${from} ${to}`} d={edgePath(places, middle)} />
          ))}
        </svg>
        {nodes.map((node) => {
          const style = {
            left: percent(left(node), full),
            top: `${node.row * rowStep}px`,
            width: percent(width, full),
            height: `${height}px`,
          }
          return (
            <Box key={node.name} node={node} agent={byName.get(node.name)} isRoot={node.name === root} isDense={isDense} style={style} />
          )
        })}
      </div>
    </section>
  )
}

/** Curves from place to place, and straight lines where a box would be. */
function edgePath(places: readonly Place[], middle: (place: Place) => number): string {
  const [first, ...rest] = places
  if (!first) return ''
  const curves = rest.map((place, index) => {
    const before = places[index] ?? first
    const [x, y, endX, endY] = [left(before) + width, middle(before), left(place), middle(place)]
    const half = (x + endX) / 2
    return `C${half} ${y} ${half} ${endY} ${endX} ${endY}${index < rest.length - 1 ? `h${width}` : ''}`
  })
  return `M${left(first) + width} ${middle(first)}${curves.join('')}`
}

interface BoxProps {
  readonly node: GraphNode
  /** Absent: the server does not describe it. */
  readonly agent: AgentDescription | undefined
  readonly isRoot: boolean
  readonly isDense: boolean
  readonly style: { readonly [name: string]: string }
}

function Box({ node, agent, isRoot, isDense, style }: BoxProps) {
  const title = agent ? `${node.name}: ${agent.description}` : node.name
  const name = (
    <span class="graph-name">{node.name.split(/(?<=[_-])/).flatMap((part, i) => (i === 0 ? part : [<wbr key={i} />, part]))}</span>
  )
  const words = (
    <>
      {name}
      {!isDense && agent && <span class="graph-about">{agent.description}</span>}
    </>
  )
  if (isRoot || !agent)
    return (
      <span class="graph-node" data-root={isRoot ? '' : undefined} style={style} title={title}>
        {words}
      </span>
    )
  return (
    <a class="graph-node" style={style} title={title} href={hashOf({ view: 'agents', agent: node.name })}>
      {words}
    </a>
  )
}
