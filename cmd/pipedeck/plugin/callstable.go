// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"encoding/json"
	"fmt"
	"path"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/format"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/tui/state"
	"github.com/pipedeck/pipedeck/tui/text"
)

// running is shown in place of the code of a call that has not ended.
const running = "running"

func callTable(s *session.State, calls []*deckv1.PluginCall) format.Table {
	table := format.Table{Columns: []format.Column{
		{Head: "ID"}, {Head: "TIME", Yield: 5, Least: 8, Ending: true, Drop: 3}, {Head: "PLUGIN", Yield: 3, Least: 8},
		{Head: "CALL", Yield: 2, Least: 16}, {Head: "STAGE", Yield: 4, Least: 8, Drop: 4}, {Head: "TOOK", Drop: 2},
		{Head: "REQUEST", Drop: 6}, {Head: "ANSWER", Drop: 5}, {Head: "CODE", State: true},
		{Head: "DEPLOYMENT", ID: true, Wide: true}, {Head: "BUILD", Wide: true}, {Head: "METHOD", Wide: true},
		{Head: "DETAIL", Text: true},
	}}
	for _, c := range calls {
		at := c.GetStartedAt().AsTime().Local().Format("2006-01-02 15:04:05.000")
		table.Rows = append(table.Rows, []string{
			c.GetId(), at, c.GetPlugin(), arrow(c) + path.Base(c.GetMethod()), stageOf(s, c) + again(c), took(c),
			size(c.GetRequestBytes()), size(c.GetResponseBytes()), code(c), c.GetDeploymentId(), c.GetBuild(),
			c.GetMethod(), c.GetDetail(),
		})
	}
	return table
}

// arrow shows who calls: > is piped, < is the plugin.
func arrow(c *deckv1.PluginCall) string {
	if c.GetDirection() == deckv1.PluginCall_DIRECTION_TO_PIPED {
		return "< "
	}
	return "> "
}

// again marks a call of a re-run.
func again(c *deckv1.PluginCall) string {
	if c.GetRerun() {
		return " (re-run)"
	}
	return ""
}

// stageOf is the name by which users know the stage of a call.
func stageOf(s *session.State, c *deckv1.PluginCall) string {
	if s != nil {
		if d := s.Deployment(c.GetDeploymentId()); d != nil {
			for _, stage := range d.GetStages() {
				if stage.GetId() == c.GetStageId() {
					return state.StageWord(stage)
				}
			}
		}
	}
	if c.GetStageName() != "" {
		return c.GetStageName()
	}
	return c.GetStageId()
}

func code(c *deckv1.PluginCall) string {
	if c.GetCode() == "" {
		return running
	}
	return c.GetCode()
}

// took is how long a call took, to three digits.
func took(c *deckv1.PluginCall) string {
	d := c.GetDuration().AsDuration()
	switch {
	case c.GetDuration() == nil:
		return ""
	case d < 10*time.Millisecond:
		return d.Round(10 * time.Microsecond).String()
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	}
	return d.Round(10 * time.Millisecond).String()
}

func size(bytes int64) string {
	switch {
	case bytes == 0:
		return ""
	case bytes < 1<<10:
		return fmt.Sprintf("%d B", bytes)
	case bytes < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(bytes)/(1<<10))
	}
	return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20))
}

// callLine is one call of a list that grows.
func callLine(s *session.State, c *deckv1.PluginCall) string {
	parts := []string{c.GetStartedAt().AsTime().Local().Format("15:04:05.000"), c.GetId(), c.GetPlugin(),
		arrow(c) + path.Base(c.GetMethod()), stageOf(s, c) + again(c), took(c), code(c), c.GetDetail()}
	var shown []string
	for _, part := range parts {
		if part != "" {
			shown = append(shown, text.Line(part))
		}
	}
	return strings.Join(shown, "  ") + "\n"
}

// callText is one call with its messages.
func callText(s *session.State, c *deckv1.PluginCall) string {
	var b strings.Builder
	row := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%-11s %s\n", name, text.Line(value))
		}
	}
	row("id", c.GetId())
	if c.GetStartedAt() != nil {
		row("time", c.GetStartedAt().AsTime().Local().Format("2006-01-02 15:04:05.000 MST"))
	}
	from := "piped to plugin " + c.GetPlugin()
	if c.GetDirection() == deckv1.PluginCall_DIRECTION_TO_PIPED {
		from = "plugin " + c.GetPlugin() + " to piped"
	}
	row("call", from)
	row("method", c.GetMethod())
	row("build", c.GetBuild())
	row("deployment", c.GetDeploymentId())
	if c.GetStageId() != "" {
		row("stage", stageOf(s, c)+again(c)+" ("+c.GetStageId()+")")
	}
	row("took", took(c))
	row("code", code(c))
	row("detail", c.GetDetail())
	messageText(&b, "request", c.GetRequestJson(), c.GetRequestBytes(), c.GetRequestClipped())
	messageText(&b, "answer", c.GetResponseJson(), c.GetResponseBytes(), c.GetResponseClipped())
	return b.String()
}

func messageText(b *strings.Builder, name, message string, bytes int64, clipped bool) {
	if message == "" {
		if clipped {
			fmt.Fprintf(b, "\n%s, %s: piped had no room to keep it\n", name, size(bytes))
		}
		return
	}
	fmt.Fprintf(b, "\n%s", name)
	if bytes > 0 {
		b.WriteString(", " + size(bytes))
	}
	if clipped {
		b.WriteString(", clipped: values are missing")
	}
	b.WriteString(":\n")
	for line := range strings.Lines(asYAML(message)) {
		b.WriteString(text.Clean(strings.TrimSuffix(line, "\n")) + "\n")
	}
}

// asYAML is a message for a reader: texts of several lines stand in lines. JSON that cannot be read stays as it is.
func asYAML(message string) string {
	var value any
	if json.Unmarshal([]byte(message), &value) != nil {
		return message
	}
	var b strings.Builder
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(2)
	if encoder.Encode(value) != nil || encoder.Close() != nil {
		return message
	}
	return b.String()
}
