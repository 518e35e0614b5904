// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package require

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"
)

// fail ends the test with what was found and the message of the caller, if there is one.
func fail(t testing.TB, message []any, found string, args ...any) {
	t.Helper()
	text := fmt.Sprintf(found, args...)
	if len(message) > 0 {
		if format, is := message[0].(string); is && len(message) > 1 {
			text += "\n" + fmt.Sprintf(format, message[1:]...)
		} else {
			text += "\n" + fmt.Sprint(message...)
		}
	}
	t.Fatal(text)
}

// NoError requires that err is nil.
func NoError(t testing.TB, err error, message ...any) {
	t.Helper()
	if err != nil {
		fail(t, message, "unexpected error: %v", err)
	}
}

// Error requires an error.
func Error(t testing.TB, err error, message ...any) {
	t.Helper()
	if err == nil {
		fail(t, message, "no error, but one is expected")
	}
}

// ErrorContains requires an error with a text.
func ErrorContains(t testing.TB, err error, text string, message ...any) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), text) {
		fail(t, message, "error: %v\nwant one that contains: %s", err, text)
	}
}

// EqualError requires an error with exactly a text.
func EqualError(t testing.TB, err error, text string, message ...any) {
	t.Helper()
	if err == nil || err.Error() != text {
		fail(t, message, "error: %v\nwant: %s", err, text)
	}
}

// ErrorIs requires that target is among the errors that err wraps.
func ErrorIs(t testing.TB, err, target error, message ...any) {
	t.Helper()
	if !errors.Is(err, target) {
		fail(t, message, "error: %v\nwant one that is: %v", err, target)
	}
}

// ErrorAs requires an error of the type that target points to, and stores it there.
func ErrorAs(t testing.TB, err error, target any, message ...any) {
	t.Helper()
	if !errors.As(err, target) {
		fail(t, message, "error: %v\nwant one of the type %T", err, target)
	}
}

// Equal requires two equal values, of which the first is the expected one.
func Equal(t testing.TB, want, got any, message ...any) {
	t.Helper()
	if !equal(want, got) {
		fail(t, message, "got:  %s\nwant: %s", show(got), show(want))
	}
}

// NotEqual requires two different values.
func NotEqual(t testing.TB, other, got any, message ...any) {
	t.Helper()
	if equal(other, got) {
		fail(t, message, "got %s, which is not expected", show(got))
	}
}

// EqualValues requires values that are equal once the expected one has the type of the other.
func EqualValues(t testing.TB, want, got any, message ...any) {
	t.Helper()
	value := reflect.ValueOf(want)
	if value.IsValid() && got != nil && value.CanConvert(reflect.TypeOf(got)) {
		want = value.Convert(reflect.TypeOf(got)).Interface()
	}
	if !equal(want, got) {
		fail(t, message, "got:  %s\nwant: %s", show(got), show(want))
	}
}

func equal(a, b any) bool {
	first, isBytes := a.([]byte)
	second, too := b.([]byte)
	if isBytes && too {
		return bytes.Equal(first, second)
	}
	return reflect.DeepEqual(a, b)
}

// show is a value as it is read best: texts as they are.
func show(value any) string {
	switch value := value.(type) {
	case string:
		return value
	case []byte:
		return string(value)
	case fmt.Stringer:
		return fmt.Sprintf("%s (%#v)", value, value)
	}
	return fmt.Sprintf("%#v", value)
}

// True requires a condition.
func True(t testing.TB, condition bool, message ...any) {
	t.Helper()
	if !condition {
		fail(t, message, "false, want true")
	}
}

// False requires that a condition does not hold.
func False(t testing.TB, condition bool, message ...any) {
	t.Helper()
	if condition {
		fail(t, message, "true, want false")
	}
}

// Nil requires nil, also that of a pointer.
func Nil(t testing.TB, got any, message ...any) {
	t.Helper()
	value := reflect.ValueOf(got)
	if got != nil && (!nilable(value.Kind()) || !value.IsNil()) {
		fail(t, message, "got %s, want nil", show(got))
	}
}

func nilable(kind reflect.Kind) bool {
	switch kind {
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Func, reflect.Chan, reflect.Interface:
		return true
	}
	return false
}

// Empty requires a zero value, or a text, list or map without content.
func Empty(t testing.TB, got any, message ...any) {
	t.Helper()
	if !empty(got) {
		fail(t, message, "got %s, want nothing", show(got))
	}
}

// NotEmpty requires content.
func NotEmpty(t testing.TB, got any, message ...any) {
	t.Helper()
	if empty(got) {
		fail(t, message, "got %s, want something", show(got))
	}
}

func empty(got any) bool {
	value := reflect.ValueOf(got)
	switch value.Kind() {
	case reflect.Invalid:
		return true
	case reflect.Slice, reflect.Map, reflect.Chan, reflect.String:
		return value.Len() == 0
	}
	return value.IsZero()
}

// Zero requires the zero value.
func Zero(t testing.TB, got any, message ...any) {
	t.Helper()
	if value := reflect.ValueOf(got); value.IsValid() && !value.IsZero() {
		fail(t, message, "got %s, want zero", show(got))
	}
}

// Len requires a number of elements.
func Len(t testing.TB, got any, want int, message ...any) {
	t.Helper()
	if n := reflect.ValueOf(got).Len(); n != want {
		fail(t, message, "%d elements, want %d: %s", n, want, show(got))
	}
}

// Contains requires a text in a text, an element in a list or a key in a map.
func Contains(t testing.TB, in, what any, message ...any) {
	t.Helper()
	if !contains(in, what) {
		fail(t, message, "%s\ndoes not contain: %s", show(in), show(what))
	}
}

// NotContains is the opposite of Contains.
func NotContains(t testing.TB, in, what any, message ...any) {
	t.Helper()
	if contains(in, what) {
		fail(t, message, "%s\ncontains: %s", show(in), show(what))
	}
}

func contains(in, what any) bool {
	value := reflect.ValueOf(in)
	switch value.Kind() {
	case reflect.String:
		return strings.Contains(value.String(), reflect.ValueOf(what).String())
	case reflect.Map:
		return value.MapIndex(reflect.ValueOf(what)).IsValid()
	case reflect.Slice, reflect.Array:
		for _, element := range value.Seq2() {
			if equal(element.Interface(), what) {
				return true
			}
		}
	}
	return false
}

// Subset requires that each element of part is in the list.
func Subset[E any](t testing.TB, list, part []E, message ...any) {
	t.Helper()
	for _, element := range part {
		if !contains(list, element) {
			fail(t, message, "%s\ndoes not contain: %s", show(list), show(element))
		}
	}
}

// Regexp requires a text that a pattern matches.
func Regexp(t testing.TB, pattern, text string, message ...any) {
	t.Helper()
	if !regexp.MustCompile(pattern).MatchString(text) {
		fail(t, message, "%s\ndoes not match: %s", text, pattern)
	}
}

// JSONEq requires two texts of the same JSON.
func JSONEq(t testing.TB, want, got string, message ...any) {
	t.Helper()
	var expected, found any
	NoError(t, json.Unmarshal([]byte(want), &expected), message...)
	NoError(t, json.Unmarshal([]byte(got), &found), message...)
	if !reflect.DeepEqual(expected, found) {
		fail(t, message, "got:  %s\nwant: %s", got, want)
	}
}

// NoFileExists requires that there is no file at a path.
func NoFileExists(t testing.TB, path string, message ...any) {
	t.Helper()
	if _, err := os.Lstat(path); err == nil {
		fail(t, message, "there is a file at %s", path)
	}
}

// Eventually requires that a condition holds within a limit; it is asked again after each pause.
func Eventually(t testing.TB, condition func() bool, limit, pause time.Duration, message ...any) {
	t.Helper()
	for end := time.Now().Add(limit); !condition(); time.Sleep(pause) {
		if time.Now().After(end) {
			fail(t, message, "the condition did not hold within %s", limit)
		}
	}
}
