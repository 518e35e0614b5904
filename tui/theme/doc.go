// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package theme turns meanings (good, running, bad, focused, …) into styles and glyphs.
//
// Views ask for a meaning and never for a colour. Colour never carries a meaning alone: a glyph or a
// word is always with it, so that the sets without colour lose nothing.
//
// Each theme is readable, and tests compute it: words have a contrast of at least 4.5:1 to the backgrounds for
// which the theme is made and to its selection, frames 3:1; so do the nearest of 256 colours. On a terminal of 16
// colours, which users choose, words have none, and signs have colours 1 to 6.
package theme
