// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"text/template"
)

// token is what HTTP takes as a method and as the name of a header (RFC 9110, 5.6.2).
var token = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")

// checkRequest refuses what can never be sent: it would count as no answer, which skipOnNoData takes for good.
func (h *HTTP) checkRequest() error {
	if h.Method != "" && !token.MatchString(h.Method) {
		return fmt.Errorf("method is %q: want one such as GET or POST", h.Method)
	}
	for i, header := range h.Headers {
		switch {
		case !token.MatchString(header.Key):
			return fmt.Errorf("headers[%d].key is %q: want the name of a header, such as Authorization", i, header.Key)
		case strings.ContainsFunc(header.Value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }):
			// Without the value, which may be a secret.
			return fmt.Errorf("headers[%d].value holds a line break or another control character", i)
		}
	}
	if hasVariable(h.URL) {
		return checkVariables("url", h.URL)
	}
	return CheckURL(h.URL)
}

// CheckURL refuses a URL, with its variables filled in, that can never be requested. The error holds nothing of it,
// because it may have a password.
func CheckURL(address string) error {
	at, err := url.Parse(address)
	if err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https" {
		return errors.New("url is not a URL of http or https, such as https://shop.example.com/healthz")
	}
	return nil
}

func hasVariable(text string) bool { return strings.Contains(text, "{{") }

// checkVariables refuses a text whose variables cannot be read. Whether they have values is known when the stage
// begins.
func checkVariables(key, text string) error {
	if _, err := template.New(key).Parse(text); err != nil {
		return fmt.Errorf("the variables of the %s cannot be read: %w", key, err)
	}
	return nil
}
