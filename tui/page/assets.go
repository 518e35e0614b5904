// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
)

//go:embed assets
var embedded embed.FS

// asset is a file of the page, ready to be sent.
type asset struct {
	kind, etag      string
	plain, deflated []byte
}

// indexName is the page itself.
const indexName = "index.html"

// kinds are those that a machine may not know; a browser refuses a script of another kind.
var kinds = map[string]string{".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8",
	".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}

// loadAssets reads the files of the page, by their paths.
func loadAssets() (map[string]asset, error) {
	all := map[string]asset{}
	err := fs.WalkDir(embedded, "assets", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := embedded.ReadFile(name)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(content)
		a := asset{plain: content, deflated: compress(content),
			etag: `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`}
		if a.kind = kinds[path.Ext(name)]; a.kind == "" {
			a.kind = mime.TypeByExtension(path.Ext(name))
		}
		all[strings.TrimPrefix(name, "assets/")] = a
		return nil
	})
	if err == nil && all[indexName].plain == nil {
		err = fmt.Errorf("the page has no %s", indexName)
	}
	return all, err
}

func compress(content []byte) []byte {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil // the level is one of those that there are
	}
	_, _ = w.Write(content) // into memory, where nothing fails
	_ = w.Close()
	return out.Bytes()
}

// send answers with the file. A browser asks each time whether its copy is still the same.
func (a asset) send(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Cache-Control", "private, no-cache")
	header.Set("Etag", a.etag)
	header.Set("Content-Type", a.kind)
	header.Set("Vary", "Accept-Encoding, Cookie")
	if r.Header.Get("If-None-Match") == a.etag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	content := a.plain
	if acceptsGzip(r) && len(a.deflated) < len(a.plain) {
		content = a.deflated
		header.Set("Content-Encoding", "gzip")
	}
	header.Set("Content-Length", fmt.Sprint(len(content)))
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		_, _ = w.Write(content) // the watcher may be gone
	}
}

func acceptsGzip(r *http.Request) bool {
	for part := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		name, quality, _ := strings.Cut(strings.TrimSpace(part), ";")
		if name == "gzip" && strings.ReplaceAll(quality, " ", "") != "q=0" {
			return true
		}
	}
	return false
}
