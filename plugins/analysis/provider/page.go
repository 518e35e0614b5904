// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

const (
	// mask stands for a secret.
	mask = "******"
	// leastSecret is the least length of what is masked, in bytes: a shorter text is in most answers by chance.
	leastSecret = 4
	// maxMasked bounds what is searched for secrets of an answer, in bytes: more than an error shows of it.
	maxMasked = 64 << 10
)

// page is the body of an answer, and the secrets of its request. Servers and proxies may repeat in an answer what they
// were asked with.
type page struct {
	body    []byte
	secrets []string
}

// excerpt makes one short line of the body, without the secrets.
func (p *page) excerpt() string { return p.quote(string(p.body[:min(len(p.body), maxMasked)])) }

// shown is the excerpt, or that there is none.
func (p *page) shown() string { return cmp.Or(p.excerpt(), "the answer is empty") }

// quote makes one short line of a text from the body, without the secrets. They are masked before the line is cut, so
// that no part of one remains at its end.
func (p *page) quote(text string) string {
	text = text[:min(len(text), maxMasked)]
	for _, secret := range p.secrets {
		text = strings.ReplaceAll(text, secret, mask)
	}
	return excerpt([]byte(text))
}

// secretsOf are the texts of a request that no log may show: what its headers hold, and the user, password and query of
// the address that was configured for it. known are further ones, such as what a header holds apart from its prefix.
// The longest are first, because a secret may be a part of another one.
func secretsOf(req *http.Request, configured *url.URL, known ...string) []string {
	var found []string
	add := func(texts ...string) {
		for _, text := range texts {
			if text = strings.TrimSpace(text); len(text) < leastSecret {
				continue
			}
			found = append(found, text)
			if encoded, err := json.Marshal(text); err == nil {
				found = append(found, strings.Trim(string(encoded), `"`)) // as in an answer in JSON
			}
		}
	}
	add(known...)
	for name, values := range req.Header {
		if slices.Contains([]string{"Accept", "Content-Type"}, name) {
			continue
		}
		for _, value := range values {
			_, afterScheme, _ := strings.Cut(value, " ") // Bearer TOKEN
			add(value, afterScheme)
		}
	}
	if user, password, ok := req.BasicAuth(); ok {
		add(user, password)
	}
	if configured != nil {
		user, password := configured.User.Username(), ""
		if configured.User != nil {
			password, _ = configured.User.Password()
			// What the client makes a header of.
			add(base64.StdEncoding.EncodeToString([]byte(user + ":" + password)))
		}
		add(user, password, configured.RawQuery)
		for _, values := range configured.Query() {
			add(values...)
		}
	}
	slices.SortFunc(found, func(a, b string) int { return len(b) - len(a) })
	return slices.Compact(found)
}
