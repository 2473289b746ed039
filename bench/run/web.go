package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/weftcrawl/weft/bench/localweb"
	"github.com/weftcrawl/weft/webtest"
)

// web is the local web in its own process.
type web struct {
	cmd     *exec.Cmd
	control string
	client  http.Client
	// Files of the root URLs, of all URLs, and of the access log.
	seeds, urls, log string
}

// startWeb starts the program and waits until it serves. urls is written only
// when allURLs is set: listing a tree means reading all of it.
func startWeb(program string, spec localweb.Spec, dir string, allURLs bool) (*web, error) {
	w := &web{
		client: http.Client{Timeout: time.Minute},
		seeds:  filepath.Join(dir, "seeds.txt"), urls: filepath.Join(dir, "urls.txt"), log: filepath.Join(dir, "access.log"),
	}
	w.cmd = exec.Command(program, append(spec.Args(), "-seeds", w.seeds, "-log", w.log)...)
	w.cmd.Stderr = os.Stderr
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := w.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the web: %w", err)
	}
	line, err := bufio.NewReader(out).ReadBytes('\n')
	var hello struct{ Control string }
	if err == nil {
		err = json.Unmarshal(line, &hello)
	}
	if err == nil {
		w.control = hello.Control
		if allURLs {
			err = w.download("/urls", w.urls)
		}
	}
	if err != nil {
		_ = w.cmd.Process.Kill()
		return nil, errors.Join(fmt.Errorf("start the web: %w", err), w.cmd.Wait())
	}
	return w, nil
}

func (w *web) download(path, file string) error {
	resp, err := w.client.Get(w.control + path)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, resp.Body)
	return errors.Join(err, f.Close())
}

// served is the number of pages served so far.
func (w *web) served() (int64, error) {
	resp, err := w.client.Get(w.control + "/count")
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
}

// stop ends the web and returns its access log and its processor time.
func (w *web) stop() ([]webtest.Entry, time.Duration, error) {
	w.client.CloseIdleConnections()
	if err := w.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return nil, 0, err
	}
	if err := w.cmd.Wait(); err != nil {
		return nil, 0, fmt.Errorf("the web failed: %w", err)
	}
	f, err := os.Open(w.log)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	entries, err := webtest.ReadLog(f)
	return entries, w.cmd.ProcessState.UserTime() + w.cmd.ProcessState.SystemTime(), err
}
