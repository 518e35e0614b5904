// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"bytes"
	"io"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/format"
	"github.com/pipedeck/pipedeck/tui/document"
)

// pluginWriter returns what prints the output of a plugin: as it is, or as event lines.
func pluginWriter(out io.Writer, output *format.Output) func(plugin string) io.Writer {
	return func(plugin string) io.Writer {
		if !output.Machine() {
			return out
		}
		return &pluginLines{plugin: plugin, out: out}
	}
}

// maxPluginLine bounds what is kept of a line that has no end, in bytes.
const maxPluginLine = 64 << 10

// pluginLines prints each line as an event line.
type pluginLines struct {
	plugin string
	out    io.Writer
	// begun is the beginning of a line.
	begun []byte
}

func (p *pluginLines) Write(data []byte) (int, error) {
	size := len(data)
	for len(data) > 0 {
		end := bytes.IndexByte(data, '\n')
		if end < 0 {
			p.begun = append(p.begun, data...)
			if len(p.begun) >= maxPluginLine {
				return size, p.flush()
			}
			return size, nil
		}
		p.begun = append(p.begun, data[:end]...)
		data = data[end+1:]
		if err := p.print(); err != nil {
			return 0, err
		}
	}
	return size, nil
}

func (p *pluginLines) print() error {
	line := document.NewPluginLogLine(p.plugin, string(p.begun))
	p.begun = p.begun[:0]
	return format.Line(p.out, line)
}

// flush prints a line that has no end.
func (p *pluginLines) flush() error {
	if len(p.begun) == 0 {
		return nil
	}
	return p.print()
}

// flush prints what a writer has kept back.
func flush(out io.Writer) error {
	if lines, ok := out.(*pluginLines); ok {
		return lines.flush()
	}
	return nil
}
