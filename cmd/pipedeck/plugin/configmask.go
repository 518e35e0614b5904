// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/pipedeck/pipedeck/piped/secrets"
	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/sdk/conformance"
)

// configMask masks what a plugin was configured with. As in piped.MaskedYAML, every text of the configuration counts as
// a secret, because the plugin alone knows which are. A word that the cases of a test use does not: with "directory:
// deployed", what they say would have holes. Of a stage's "with", only the values of keys that look like secrets count.
type configMask struct {
	recordMask
	// short are secrets that are too short for the masker, the longest first.
	short []string
	// secret are the values of keys that look like secrets.
	secret []string
}

// newConfigMask learns the configuration and the "with" of a stage. Unless all is set, only the values of keys that
// look like secrets count in the configuration, too.
func newConfigMask(settings sdk.Settings, with string, all bool) (*configMask, error) {
	m := &configMask{recordMask: recordMask{masker: secrets.NewMasker(), seen: map[string]bool{}}}
	configured := []json.RawMessage{settings.Config}
	for _, target := range settings.DeployTargets {
		configured = append(configured, target.Config)
	}
	for _, raw := range configured {
		if err := m.learnJSON(raw, all); err != nil {
			return nil, err
		}
	}
	if err := m.learnJSON(json.RawMessage(with), false); err != nil {
		return nil, err
	}
	slices.SortFunc(m.short, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	return m, nil
}

// learnJSON registers the secrets of a value; all has every text be one.
func (m *configMask) learnJSON(raw json.RawMessage, all bool) error {
	if len(raw) == 0 {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return fmt.Errorf("read the configuration of the plugin: %w", err)
	}
	return m.learnValue("", value, all)
}

func (m *configMask) learnValue(key string, value any, all bool) error {
	switch v := value.(type) {
	case map[string]any:
		for k, inner := range v {
			if isSecretKey(key) { // credentials: {user: …}
				k = key
			}
			if err := m.learnValue(k, inner, all); err != nil {
				return err
			}
		}
	case []any:
		for _, inner := range v {
			if err := m.learnValue(key, inner, all); err != nil {
				return err
			}
		}
	case string:
		return m.learnText(key, v, all)
	case json.Number:
		return m.learnText(key, v.String(), false)
	}
	return nil
}

func (m *configMask) learnText(key, value string, all bool) error {
	if value != "" && isSecretKey(key) {
		m.secret = append(m.secret, value)
	}
	switch {
	case value == "" || !isSecretKey(key) && (!all || conformance.OwnWord(value)):
		return nil
	case secrets.Maskable(value):
		return m.masker.Add(value)
	case isSecretKey(key):
		m.short = append(m.short, value)
	}
	return nil
}

// text masks every configured value in s.
func (m *configMask) text(s string) string {
	s = m.recordMask.text(s)
	for _, value := range m.short {
		s = strings.ReplaceAll(s, value, "******")
	}
	return s
}

// maxLine bounds what is held back of a line that has not ended, in bytes.
const maxLine = 64 << 10

// maskedLines masks what is written to it line by line. It is not safe for concurrent use.
type maskedLines struct {
	mask *configMask
	to   io.Writer
	line []byte
}

// newPluginOutput returns where a plugin prints to: nowhere unless verbose.
func newPluginOutput(verbose bool, mask *configMask, to io.Writer) *maskedLines {
	if !verbose {
		to = io.Discard
	}
	return &maskedLines{mask: mask, to: to}
}

func (w *maskedLines) Write(p []byte) (int, error) {
	w.line = append(w.line, p...)
	end := bytes.LastIndexByte(w.line, '\n') + 1
	if end == 0 && len(w.line) > maxLine {
		end = len(w.line)
	}
	if _, err := io.WriteString(w.to, w.mask.text(string(w.line[:end]))); err != nil {
		return 0, err
	}
	w.line = slices.Delete(w.line, 0, end)
	return len(p), nil
}

// flush writes a last line without an end.
func (w *maskedLines) flush() error {
	_, err := io.WriteString(w.to, w.mask.text(string(w.line)))
	w.line = nil
	return err
}
