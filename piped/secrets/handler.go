// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package secrets

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
)

// Handler passes log records on with secrets masked in the message and in the values of all attributes.
func Handler(next slog.Handler, masker *Masker) slog.Handler { return &handler{next, masker} }

type handler struct {
	next   slog.Handler
	masker *Masker
}

func (h *handler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.next.Enabled(ctx, level)
}

func (h *handler) Handle(ctx context.Context, record slog.Record) error {
	masked := slog.NewRecord(record.Time, record.Level, h.masker.Mask(record.Message), record.PC)
	record.Attrs(func(a slog.Attr) bool {
		masked.AddAttrs(h.attr(a))
		return true
	})
	return h.next.Handle(ctx, masked)
}

func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	masked := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		masked[i] = h.attr(a)
	}
	return &handler{h.next.WithAttrs(masked), h.masker}
}

func (h *handler) WithGroup(name string) slog.Handler {
	return &handler{h.next.WithGroup(name), h.masker}
}

func (h *handler) attr(a slog.Attr) slog.Attr {
	value := a.Value.Resolve()
	switch value.Kind() {
	case slog.KindString:
		return slog.String(a.Key, h.masker.Mask(value.String()))
	case slog.KindGroup:
		var members []slog.Attr
		for _, member := range value.Group() {
			members = append(members, h.attr(member))
		}
		return slog.Attr{Key: a.Key, Value: slog.GroupValue(members...)}
	case slog.KindAny:
		for _, text := range texts(value.Any()) {
			if masked := h.masker.Mask(text); masked != text {
				return slog.String(a.Key, masked)
			}
		}
	}
	return slog.Attr{Key: a.Key, Value: value}
}

// texts are what handlers write of a value: the text or the JSON, which also shows what is behind pointers.
func texts(value any) []string {
	list := []string{fmt.Sprintf("%+v", value)}
	var data bytes.Buffer
	encoder := json.NewEncoder(&data)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err == nil {
		list = append(list, strings.TrimSuffix(data.String(), "\n"))
	}
	return list
}

// Error is the error with secrets masked in its text; errors.Is and errors.As see through it. It is nil
// when err is.
func (m *Masker) Error(err error) error {
	if err == nil {
		return nil
	}
	return &maskedError{err, m.Mask(err.Error())}
}

type maskedError struct {
	err  error
	text string
}

func (e *maskedError) Error() string { return e.text }
func (e *maskedError) Unwrap() error { return e.err }
