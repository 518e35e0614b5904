// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package asciicast

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
)

// Header is what is known of a recording.
type Header struct {
	// Width and Height are columns and rows.
	Width, Height int
	// Began is the time of day at which it begins; the zero time when that is not known.
	Began time.Time
	Title string
}

// header is the first line. Source: docs.asciinema.org/manual/asciicast/v2.
type header struct {
	Version   int               `json:"version"`
	Width     int               `json:"width"`
	Height    int               `json:"height"`
	Timestamp int64             `json:"timestamp,omitempty"`
	Title     string            `json:"title,omitempty"`
	Env       map[string]string `json:"env"`
}

// Writer writes one recording. It is used by one goroutine.
type Writer struct {
	out    *bufio.Writer
	height int
	// lines are those of the screen.
	lines []string
	at    time.Duration
}

// NewWriter writes the header.
func NewWriter(w io.Writer, h Header) (*Writer, error) {
	out := &Writer{out: bufio.NewWriter(w), height: h.Height}
	first := header{Version: 2, Width: h.Width, Height: h.Height, Title: h.Title,
		Env: map[string]string{"TERM": "xterm-256color"}}
	if !h.Began.IsZero() {
		first.Timestamp = h.Began.Unix()
	}
	return out, out.line(first)
}

// Frame writes how the screen is at a time since the beginning, which is not before that of the frame before: what has
// changed on it.
func (w *Writer) Frame(at time.Duration, screen string) error {
	lines := strings.Split(screen, "\n")
	lines = lines[:min(len(lines), w.height)]
	var output strings.Builder
	if w.lines == nil {
		output.WriteString(ansi.HideCursor + ansi.ResetStyle + ansi.EraseEntireScreen)
		w.lines = make([]string, w.height)
	}
	for row := range w.lines {
		line := ""
		if row < len(lines) {
			line = lines[row]
		}
		if line == w.lines[row] {
			continue
		}
		w.lines[row] = line
		output.WriteString(ansi.CursorPosition(1, row+1) + ansi.EraseEntireLine + line + ansi.ResetStyle)
	}
	if output.Len() == 0 {
		return nil
	}
	return w.output(at, output.String())
}

// End writes that the recording ends at a time, and all that was not written yet. The last screen stays.
func (w *Writer) End(at time.Duration) error {
	if err := w.output(at, ansi.ResetStyle+ansi.ShowCursor); err != nil {
		return err
	}
	return w.out.Flush()
}

func (w *Writer) output(at time.Duration, text string) error {
	w.at = max(w.at, at)
	seconds := math.Round(w.at.Seconds()*1000) / 1000
	return w.line([]any{seconds, "o", text})
}

func (w *Writer) line(content any) error {
	var line bytes.Buffer
	encoder := json.NewEncoder(&line)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(content); err != nil {
		return fmt.Errorf("encode a moment of the terminal: %w", err)
	}
	_, err := w.out.Write(line.Bytes())
	return err
}
