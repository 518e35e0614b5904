// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package notifier

import (
	"bytes"
	"encoding/json"
	"fmt"
	"text/template"
	"time"

	"github.com/pipedeck/pipedeck/piped/clip"
	"github.com/pipedeck/pipedeck/piped/observe"
)

// maxRendered bounds what a template may write, in bytes.
const maxRendered = 256 << 10

// renderer is a user's template for messages.
type renderer struct{ template *template.Template }

// newTemplate returns nil for the empty text. A template that cannot work fails here, not at the first
// event.
func newTemplate(text string) (*renderer, error) {
	if text == "" {
		return nil, nil
	}
	parsed, err := template.New("template").Option("missingkey=zero").Funcs(
		template.FuncMap{"json": toJSON, "shorten": clip.Characters},
	).Parse(text)
	if err != nil {
		return nil, fmt.Errorf("read the template: %w", err)
	}
	r := &renderer{parsed}
	trial := newView(
		&observe.Event{Type: observe.PipedStarted, At: time.Unix(0, 0), Piped: &observe.Identity{}},
		links{func() string { return "" }}, mentions{}, plain,
	)
	_, err = r.render(trial)
	return r, err
}

// CheckTemplate returns why a text cannot be the template of a receiver, nil when it can.
func CheckTemplate(text string) error {
	_, err := newTemplate(text)
	return err
}

func (r *renderer) render(v *view) ([]byte, error) {
	out := &limited{}
	if err := r.template.Execute(out, v); err != nil {
		return nil, fmt.Errorf("fill in the template: %w", err)
	}
	return out.Bytes(), nil
}

func toJSON(value any) (string, error) {
	data, err := json.Marshal(value)
	return string(data), err
}

// limited is a buffer that refuses to grow for ever.
type limited struct{ bytes.Buffer }

func (l *limited) Write(data []byte) (int, error) {
	if l.Len()+len(data) > maxRendered {
		return 0, fmt.Errorf("the template writes more than %d KiB", maxRendered>>10)
	}
	return l.Buffer.Write(data)
}
