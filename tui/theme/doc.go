// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package theme turns meanings (good, running, bad, focused, …) into styles and glyphs.
//
// Views ask for a meaning and never for a colour. Colour never carries a meaning alone: a glyph or a
// word is always with it, so that the sets without colour lose nothing. Colours are the sixteen of the
// terminal's own palette and so fit a light and a dark background.
package theme
