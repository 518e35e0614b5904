// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"encoding/json"
	"net/url"
	"regexp"
	"strings"
	"sync"

	"github.com/goccy/go-yaml"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/pipedeck/pipedeck/api/plugin/common"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/secrets"
	"github.com/pipedeck/pipedeck/plugins/sdk"
)

// secretKey is what keys of secrets are called, unless they name where one is.
var secretKey = regexp.MustCompile(
	`(?i)(password|passwd|passphrase|secret|token|api_?key|private_?key|credential|access_?key)[a-z0-9]*$`)

var placeKey = regexp.MustCompile(`(?i)(file|path|name|ref|url|dir)$`)

// querySecret finds the values of secrets in the query of an address, also where JSON has escaped its "&".
var querySecret = regexp.MustCompile(`(?i)((?:[?&;]|\\u0026)(?:key|sig|auth|pwd|[a-z0-9_.-]*` +
	`(?:token|secret|password|passwd|passphrase|signature|credential|(?:api|access|private)[_-]?key))=)` +
	`([^&;\s"'<>\\#]+)`)

// plainSecret finds secrets that are known by their form: passwords in addresses and private keys.
var plainSecret = []*regexp.Regexp{
	regexp.MustCompile(`(://[^/\s:@]*:)[^/\s@]+(@)`),
	regexp.MustCompile(`(?s)(-----BEGIN [A-Z ]*PRIVATE KEY-----).*?(-----END [A-Z ]*PRIVATE KEY-----)`),
}

// maxSeen bounds what is remembered of application configurations.
const maxSeen = 1_000

// recordMask knows the secrets that a recorded plugin may see.
type recordMask struct {
	masker    *secrets.Masker
	decrypter secrets.Decrypter

	mu   sync.Mutex
	seen map[string]bool // application configurations that were read
}

// newRecordMask takes the key of the applications' secrets from a piped configuration; without one, or with one that
// cannot be read, those are not known.
func newRecordMask(pipedConfig string) *recordMask {
	m := &recordMask{masker: secrets.NewMasker(), seen: map[string]bool{}}
	if pipedConfig == "" {
		return m
	}
	if piped, err := config.LoadPiped(pipedConfig); err == nil {
		if m.decrypter, err = secrets.Open(piped.SecretManagement); err == nil && m.decrypter != nil {
			_ = m.masker.Add(m.decrypter.Sensitive()...)
		}
	}
	return m
}

// settle registers the secrets of a plugin's configuration and gives the configuration without them.
func (m *recordMask) settle(settings sdk.Settings) (json.RawMessage, error) {
	var value any
	data, err := json.Marshal(settings)
	if err == nil {
		err = json.Unmarshal(data, &value)
	}
	if err != nil {
		return nil, err
	}
	m.register("", value)
	masked, err := json.Marshal(m.replace("", value))
	return masked, err
}

func (m *recordMask) register(key string, value any) {
	switch v := value.(type) {
	case map[string]any:
		for k, inner := range v {
			m.register(k, inner)
		}
	case []any:
		for _, inner := range v {
			m.register(key, inner)
		}
	case string:
		if isSecretKey(key) {
			_ = m.masker.Add(v)
		}
		m.registerQueries(v)
	}
}

// registerQueries registers the secrets in the queries of addresses, which stand alone elsewhere.
func (m *recordMask) registerQueries(text string) {
	for _, found := range querySecret.FindAllStringSubmatch(text, -1) {
		_ = m.masker.Add(found[2])
		if plain, err := url.QueryUnescape(found[2]); err == nil && plain != found[2] {
			_ = m.masker.Add(plain)
		}
	}
}

// replace masks every value under a secret's key, however short, and every text.
func (m *recordMask) replace(key string, value any) any {
	switch v := value.(type) {
	case map[string]any:
		for k, inner := range v {
			v[k] = m.replace(k, inner)
		}
	case []any:
		for i, inner := range v {
			v[i] = m.replace(key, inner)
		}
	case string:
		if isSecretKey(key) {
			return "******"
		}
		return m.text(v)
	}
	return value
}

func isSecretKey(key string) bool { return secretKey.MatchString(key) && !placeKey.MatchString(key) }

// see decrypts the secrets of the applications that a message holds, as piped does, so that they are known.
func (m *recordMask) see(message proto.Message) {
	if m.decrypter == nil {
		return // there is nothing to look for
	}
	message.ProtoReflect().Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		if field.Message() == nil || field.IsMap() || field.IsList() {
			return true
		}
		inner := value.Message().Interface()
		if source, ok := inner.(*common.DeploymentSource); ok {
			m.learn(string(source.GetApplicationConfig()))
		} else {
			m.see(inner)
		}
		return true
	})
}

// learn decrypts the secrets of an application configuration, if there is a key for them.
func (m *recordMask) learn(configuration string) {
	if m.decrypter == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.seen[configuration] {
		return
	}
	if len(m.seen) >= maxSeen {
		clear(m.seen) // they are read again
	}
	m.seen[configuration] = true
	var app struct {
		Spec struct {
			Encryption struct {
				Secrets map[string]string `yaml:"encryptedSecrets"`
			} `yaml:"encryption"`
		} `yaml:"spec"`
	}
	text := []byte(strings.TrimPrefix(configuration, "\ufeff"))
	// A piped that is not ours may take a key that is given twice.
	if yaml.UnmarshalWithOptions(text, &app, yaml.AllowDuplicateMapKey()) != nil {
		return
	}
	for _, ciphertext := range app.Spec.Encryption.Secrets {
		if plain, err := m.decrypter.Decrypt(ciphertext); err == nil {
			_ = m.masker.Add(plain, strings.TrimSpace(plain))
		}
	}
}

func (m *recordMask) text(s string) string {
	s = m.masker.Mask(s)
	for _, pattern := range plainSecret {
		s = pattern.ReplaceAllString(s, "${1}******${2}")
	}
	return querySecret.ReplaceAllString(s, "${1}******")
}
