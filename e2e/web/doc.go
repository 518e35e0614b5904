// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package web drives the page to watch in a real Chromium: what it shows, how it follows, what a screen reader finds,
// and that it asks no other host for anything. The server of the page is the real one; a deck server that the tests
// script stands behind it. It is a module that nothing else requires, because only these tests need a browser.
package web
