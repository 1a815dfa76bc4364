class PageView: pass
