// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// HTTPHeader is a header of requests whose value is in a file.
type HTTPHeader struct {
	// Name is what requests choose the header by.
	Name string `json:"name" jsonschema:"required,minLength=1"`
	// Key is the name of the header, such as Authorization.
	Key string `json:"key" jsonschema:"required,minLength=1"`
	// Prefix stands in front of the content of the file, such as "Bearer ". Default: none.
	Prefix string `json:"prefix"`
	// ValueFile is a file with the value, which is read at each request.
	ValueFile string `json:"valueFile" jsonschema:"required,minLength=1"`
	// Hosts are the hosts that get the header, such as shop.example.com or 127.0.0.1:8080. Without a port, they are
	// those of https.
	Hosts []Host `json:"hosts" jsonschema:"required,minItems=1"`
}

func (c *Config) validateHeaders() error {
	names := map[string]bool{}
	for i, h := range c.HTTPHeaders {
		at := fmt.Sprintf("httpHeaders[%d]", i)
		switch {
		case h.Name == "":
			return errors.New(at + ".name is required")
		case names[h.Name]:
			return fmt.Errorf("%s.name: two headers have the name %s", at, h.Name)
		case !httpToken.MatchString(h.Key):
			return fmt.Errorf("%s.key is %q: want the name of a header, such as Authorization", at, h.Key)
		case strings.EqualFold(h.Key, "Host"):
			return fmt.Errorf("%s.key is Host, which chooses who gets the secret: want another header", at)
		case h.ValueFile == "":
			return errors.New(at + ".valueFile is required")
		case len(h.Hosts) == 0:
			return errors.New(at + ".hosts is required: the hosts that get the header")
		}
		for j, host := range h.Hosts {
			if _, _, err := host.parts(); err != nil {
				return fmt.Errorf("%s.hosts[%d] %w", at, j, err)
			}
		}
		names[h.Name] = true
	}
	return nil
}

// Header returns the header of a name; nil when there is none.
func (c *Config) Header(name string) *HTTPHeader {
	for i := range c.HTTPHeaders {
		if c.HTTPHeaders[i].Name == name {
			return &c.HTTPHeaders[i]
		}
	}
	return nil
}

// HeaderNames are those of all headers, for messages.
func (c *Config) HeaderNames() string {
	if len(c.HTTPHeaders) == 0 {
		return "none"
	}
	var all []string
	for _, h := range c.HTTPHeaders {
		all = append(all, h.Name)
	}
	return strings.Join(all, ", ")
}

// For is whether an address gets the header.
func (h *HTTPHeader) For(address *url.URL) bool {
	return slices.ContainsFunc(h.Hosts, func(host Host) bool { return host.has(address) })
}
