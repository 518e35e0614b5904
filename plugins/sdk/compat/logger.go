// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package compat

import (
	"fmt"
	"log/slog"
	"reflect"
)

// Logger is the log of the process. Its methods take fields of zap, each of which becomes an attribute, and other
// values, without a dependency on zap.
type Logger struct{ logger *slog.Logger }

// NewLogger returns a log that writes to one of the standard library, for tests.
func NewLogger(logger *slog.Logger) *Logger { return &Logger{logger} }

// Debug writes a message for developers.
func (l *Logger) Debug(message string, fields ...any) { l.logger.Debug(message, attributes(fields)...) }

// Info writes a message.
func (l *Logger) Info(message string, fields ...any) { l.logger.Info(message, attributes(fields)...) }

// Warn writes a warning.
func (l *Logger) Warn(message string, fields ...any) { l.logger.Warn(message, attributes(fields)...) }

// Error writes an error.
func (l *Logger) Error(message string, fields ...any) { l.logger.Error(message, attributes(fields)...) }

// Slog is the logger of the standard library behind it.
func (l *Logger) Slog() *slog.Logger { return l.logger }

// attributes makes attributes of fields. Those of zap are structs with a key and the value in one of three places.
func attributes(fields []any) (made []any) {
	for i, field := range fields {
		key, value := fmt.Sprintf("field%d", i+1), field
		if v := reflect.ValueOf(field); v.Kind() == reflect.Struct && v.FieldByName("Key").Kind() == reflect.String {
			key = v.FieldByName("Key").String()
			value = fieldValue(v)
		}
		made = append(made, slog.Any(key, value))
	}
	return made
}

func fieldValue(field reflect.Value) any {
	if v := field.FieldByName("Interface"); v.IsValid() && v.CanInterface() && !v.IsZero() {
		return v.Interface()
	}
	if v := field.FieldByName("String"); v.Kind() == reflect.String && v.String() != "" {
		return v.String()
	}
	if v := field.FieldByName("Integer"); v.CanInt() {
		return v.Int()
	}
	return ""
}
