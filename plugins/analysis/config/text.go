// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"text/template"
)

// httpToken is what HTTP takes as a method and as the name of a header (RFC 9110, 5.6.2).
var httpToken = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")

// checkRequest refuses what can never be sent: it would count as no answer, which skipOnNoData takes for good.
func (h *HTTP) checkRequest() error {
	if path, message := h.mistake(); message != "" {
		key := path[0]
		if len(path) == 3 {
			key = fmt.Sprintf("%s[%s].%s", path[0], path[1], path[2])
		}
		return errors.New(key + " " + message)
	}
	return checkVariables("url", h.URL)
}

// mistake is what can never be sent, and the keys that lead to it. A URL with variables is one when they are filled in.
func (h *HTTP) mistake() (path []string, message string) {
	if h.Method != "" && !httpToken.MatchString(h.Method) {
		return []string{"method"}, fmt.Sprintf("is %q: want one such as GET or POST", h.Method)
	}
	for i, header := range h.Headers {
		switch {
		case !httpToken.MatchString(header.Key):
			return []string{"headers", strconv.Itoa(i), "key"},
				fmt.Sprintf("is %q: want the name of a header, such as Authorization", header.Key)
		case strings.ContainsFunc(header.Value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }):
			// Without the value, which may be a secret.
			return []string{"headers", strconv.Itoa(i), "value"}, "holds a line break or another control character"
		}
	}
	if !hasVariable(h.URL) && CheckURL(h.URL) != nil {
		return []string{"url"}, noURL
	}
	return nil, ""
}

// noURL is what a URL is that can never be requested.
const noURL = "is not a URL of http or https, such as https://shop.example.com/healthz"

// CheckURL refuses a URL, with its variables filled in, that can never be requested. The error holds nothing of it,
// because it may have a password.
func CheckURL(address string) error {
	at, err := url.Parse(address)
	if err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https" {
		return errors.New("url " + noURL)
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
