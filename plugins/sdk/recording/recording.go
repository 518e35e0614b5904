// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package recording

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/pipedeck/pipedeck/plugins/sdk"
)

// Bounds of what is read.
const (
	maxFile  = 512 << 20
	maxLine  = 96 << 20
	maxCalls = 1_000_000
)

// Format is the version of the form of recordings that is written. Files without a version are of the first one.
const Format = 1

// noteLink marks lines that are about the recording itself.
const noteLink = "recording"

// Call is one call of piped to a plugin, or of a plugin to piped, as it was on the wire. A call that streams has one
// Call for each answer.
type Call struct {
	// Run distinguishes the processes of a plugin that wrote to one file; empty in files with one.
	Run string `json:"run,omitempty"`
	// Seq is the place of the call's beginning among those of its run.
	Seq int `json:"seq"`
	// Link is "piped>NAME" or "NAME>piped" with the name of the plugin; empty is to the plugin.
	Link string `json:"link"`
	// Method is the full gRPC method; Code the name of the status, Message its text.
	Method  string `json:"method"`
	Code    string `json:"code"`
	Message string `json:"msg,omitempty"`
	// Request and Response are protobuf bytes; there is a response only when Code is OK.
	Request  []byte `json:"req"`
	Response []byte `json:"resp,omitempty"`
	// Stream marks one answer of several.
	Stream bool `json:"stream,omitempty"`
	// Millis is how long the call took; 0 is not known.
	Millis int64 `json:"ms,omitempty"`
}

// Took is how long the call took; 0 is not known.
func (c *Call) Took() time.Duration { return time.Duration(c.Millis) * time.Millisecond }

// ToPlugin is whether piped made the call.
func (c *Call) ToPlugin() bool { return c.Link == "" || strings.HasPrefix(c.Link, "piped>") }

// Recording is what a file holds.
type Recording struct {
	// Plugin is the plugin's name, Settings its entry of the piped configuration with secrets masked; nil when the file
	// does not report it, as those of PipeCD's own processes.
	Plugin   string
	Settings json.RawMessage
	// Calls are in the order in which they began, one process after the other.
	Calls []Call
	// Note says what is missing; empty when nothing is.
	Note string
}

// SettingsOr returns the recorded settings of the plugin, with the URL of others that are given. The others stay when
// they are explicit or hold a configuration, or when nothing is recorded.
func (rec *Recording) SettingsOr(given sdk.Settings, explicit bool) (sdk.Settings, error) {
	if !explicit && len(given.Config) == 0 && len(given.DeployTargets) == 0 && rec.Settings != nil {
		recorded, err := sdk.ParseSettings(string(rec.Settings))
		if err != nil {
			return given, fmt.Errorf("the recorded configuration of the plugin: %w", err)
		}
		recorded.URL = given.URL
		return recorded, nil
	}
	given.Name = rec.Plugin
	return given, nil
}

// note is a line about the recording.
type note struct {
	Run      string          `json:"run,omitempty"`
	Link     string          `json:"link"`
	Plugin   string          `json:"plugin,omitempty"`
	Settings json.RawMessage `json:"settings,omitempty"`
	Missing  string          `json:"missing,omitempty"`
	Format   int             `json:"format,omitempty"`
}

// Read decodes a recording of at most 512 MiB. Calls of other links than those of the named plugin are left out; with
// an empty name, it is the file's own. Errors name the line.
func Read(r io.Reader, plugin string) (*Recording, error) {
	limited := &io.LimitedReader{R: r, N: maxFile + 1}
	lines := bufio.NewScanner(limited)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	rec := &Recording{Plugin: plugin}
	runs := map[string]int{}
	for number := 1; lines.Scan(); number++ {
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		var kind struct {
			Link, Run string
		}
		if err := json.Unmarshal(line, &kind); err != nil {
			return nil, fmt.Errorf("line %d is not a call: %w", number, err)
		}
		if _, known := runs[kind.Run]; !known {
			runs[kind.Run] = len(runs)
		}
		if err := rec.add(kind.Link, line); err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		if len(rec.Calls) > maxCalls {
			return nil, fmt.Errorf("line %d: there are more than %d calls", number, maxCalls)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read the recording: %w", err)
	}
	if limited.N <= 0 {
		return nil, fmt.Errorf("the recording is larger than %d MiB", maxFile>>20)
	}
	return rec, rec.arrange(runs)
}

func (rec *Recording) add(link string, line []byte) error {
	if link == noteLink {
		var n note
		if err := json.Unmarshal(line, &n); err != nil {
			return err
		}
		if n.Format > Format {
			return &FormatError{n.Format}
		}
		if rec.Settings == nil && n.Settings != nil && (rec.Plugin == "" || rec.Plugin == n.Plugin) {
			rec.Settings, rec.Plugin = n.Settings, n.Plugin
		}
		if n.Missing != "" {
			rec.Note = n.Missing
		}
		return nil
	}
	var call Call
	if err := json.Unmarshal(line, &call); err != nil {
		return err
	}
	rec.Calls = append(rec.Calls, call)
	return nil
}

// arrange keeps the calls of the plugin, in their order.
func (rec *Recording) arrange(runs map[string]int) error {
	if rec.Plugin == "" {
		var names []string
		for i := range rec.Calls {
			if name, ok := strings.CutPrefix(rec.Calls[i].Link, "piped>"); ok && name != "cp" &&
				!slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		switch len(names) {
		case 0:
		case 1:
			rec.Plugin = names[0]
		default:
			slices.Sort(names)
			return &AmbiguousError{Plugins: names}
		}
	}
	mine := func(c Call) bool {
		return c.Link == "" || c.Link == "piped>"+rec.Plugin || c.Link == rec.Plugin+">piped"
	}
	rec.Calls = slices.DeleteFunc(rec.Calls, func(c Call) bool { return !mine(c) })
	if len(rec.Calls) == 0 {
		return errors.New("the recording holds no call between piped and the plugin")
	}
	slices.SortStableFunc(rec.Calls, func(a, b Call) int {
		if runs[a.Run] != runs[b.Run] {
			return runs[a.Run] - runs[b.Run]
		}
		return a.Seq - b.Seq
	})
	return nil
}

// FormatError is a file in a form that is not known here.
type FormatError struct{ Format int }

func (e *FormatError) Error() string {
	return fmt.Sprintf("the recording has format %d; formats up to %d are known", e.Format, Format)
}

// AmbiguousError is a file with the calls of several plugins.
type AmbiguousError struct{ Plugins []string }

func (e *AmbiguousError) Error() string {
	return "the recording holds the calls of several plugins: " + strings.Join(e.Plugins, ", ")
}
